import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import {
  MessageInfo,
  Problem,
  QuestionInfo,
  SessionAck,
  SessionDetail,
} from "../../src/core/schemas/schemas.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { CTRL_D, openTerminal } from "../helpers/terminal.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";
import { askIn } from "../helpers/waiting-session.ts";

/** ESC, C1, BEL, DEL, a mark of direction, an invisible character; SQLite keeps all of them. */
const STORED = "a\u001b[2J\u001b]0;x\u0007b\u009b31mc\u202ed\u007fe\u200bf";
/** With what only JSON can carry. */
const HOSTILE = `${STORED}\ud800`;
/** How the beginning is shown in text, and in JSON. */
const SHOWN = /a␛\[2J|a(?:\\\\?u001b|\\x1b|\\e)\[2J/i;

const OBEYED =
  // oxlint-disable-next-line no-control-regex -- these are what must not get through
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
/** What a line editor and its terminal need. */
// oxlint-disable-next-line no-control-regex -- these are the sequences that may pass
const EDITING = /\u001b\[(?:\?2004[hl]|\d*(?:;\d*)?[ABCDGHJK])/g;

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: unknown;
  readonly format?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** Names of the fields of a DTO that can hold any text; ids, times and words of a list cannot. */
function textFields(schema: Schema): string[] {
  if (schema.items !== undefined) {
    return textFields(schema.items);
  }
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const isText = [field.type].flat().includes("string") || field.type === undefined;
    const isFree = field.enum === undefined && field.$ref === undefined;
    const fixed = field.format === "uuid" || field.format === "date-time";
    return [...(isText && isFree && !fixed ? [name] : []), ...textFields(field)];
  });
}

/** Fields that another row's key or the program itself fills; an error's are in the tests below. */
const OWN = ["agent", "parent_session_id", "type", "pointer", "detail", "message", "usage"];

/** Writes the text into every column that a DTO shows, as a damaged or planted row would have it. */
function plant(home: Home): string[] {
  using database = new DatabaseSync(home.database);
  database.exec("PRAGMA ignore_check_constraints = ON");
  const calls = JSON.stringify([
    { id: HOSTILE, name: HOSTILE, args: { [HOSTILE]: HOSTILE }, effect: "runs", subject: HOSTILE },
  ]);
  const planted = ["id", "name", "args", "subject", "message_id"];
  for (const table of ["sessions", "messages"]) {
    const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
    for (const { name } of columns) {
      if (
        [
          "title",
          "name",
          "persona_name",
          "model",
          "repo_path",
          "project_key",
          "project_id",
          "content",
          "call_id",
        ].includes(String(name))
      ) {
        database.prepare(`UPDATE ${table} SET ${String(name)} = ?`).run(STORED);
        planted.push(String(name));
      }
    }
  }
  database.prepare("UPDATE messages SET tool_calls = ?").run(calls);
  // each message of a session has another one
  database.prepare("UPDATE messages SET message_id = ? || seq").run(STORED);
  database
    .prepare("INSERT INTO session_metadata SELECT id, ?, ? FROM sessions")
    .run(STORED, STORED);
  const failed = "exchange_open = 1";
  database
    .prepare(`UPDATE sessions SET ${failed}, failure_code = ?, failure_sentence = ?`)
    .run(STORED, STORED);
  return planted;
}

/** Asks for a permission, and for one of two texts, with the text in every field that is shown. Returns the fields. */
async function plantQuestions(home: Home, session_id: string): Promise<string[]> {
  await using store = await openSqliteStore({ path: home.database });
  const granted = { tool: STORED, subject: STORED, rule: STORED, layer: "built-in" } as const;
  const permission = { ...granted, may_last: true };
  const asked = { text: STORED, kind: "permission", permission, rules: [STORED] } as const;
  await askIn(store, session_id, { ...asked, index: 1 });
  await askIn(store, session_id, { text: STORED, choices: [STORED, "plain"], index: 2 });
  using database = new DatabaseSync(home.database);
  const text = JSON.stringify(STORED).slice(1, -1);
  // labels of a permission are words of the program, but those of an import can be any
  const change = database.prepare("UPDATE questions SET choices = replace(choices, ?, ?)");
  change.run("allow once", text);
  change.run("This call only.", text);
  const layer = database.prepare("UPDATE questions SET permission = replace(permission, ?, ?)");
  layer.run("built-in", text);
  database.prepare("UPDATE questions SET call_id = ? || call_id").run(STORED);
  return [...Object.keys(granted), "text", "call_id", "label", "meaning", "lasting"];
}

/** A word of a command that is replaced by the hostile text, as a shell would pass it. */
const PASSED = "$HOSTILE";

/** What each command writes to a terminal: the first to a real one, the others in this process. */
async function writtenBy(home: Home, commands: readonly string[]): Promise<Map<string, string>> {
  const written = new Map<string, string>();
  for (const [at, command] of commands.entries()) {
    if (at === 0) {
      const terminal = openTerminal(home, `${command} </dev/null`);
      await terminal.finished;
      written.set(command, terminal.written());
    } else {
      const [, ...words] = command.split(" ");
      const args = words.map((word) => (word === PASSED ? Buffer.from(HOSTILE).toString() : word));
      written.set(command, (await home.call(args, { terminal: true })).stdout);
    }
  }
  return written;
}

function expectClean(written: ReadonlyMap<string, string>, unshown: readonly string[] = []): void {
  for (const [command, text] of written) {
    expect(OBEYED.exec(text)?.[0], `${command} wrote ${JSON.stringify(text)}`).toBeUndefined();
    expect(text, command).not.toBe("");
    if (!unshown.includes(command)) {
      expect(text, command).toMatch(SHOWN);
    }
  }
}

describe("hostile text in a terminal", () => {
  it("[SCREEN-1] [SCREEN-2] is shown escaped in every field of a stored session, by every command", async () => {
    const home = freshHome();
    const [first, second] = [idLike("abcdef1"), idLike("abcdef2")];
    await seed(home, { id: first, messages: ["one"] }, { id: second, messages: ["two"] });
    const planted = plant(home);
    const fields = [SessionDetail, MessageInfo, SessionAck, Problem].flatMap((schema) =>
      textFields(JSON.parse(JSON.stringify(schema)) as Schema),
    );
    expect(fields.length).toBeGreaterThan(12);
    expect(fields.filter((field) => ![...planted, ...OWN].includes(field))).toEqual([]);

    expectClean(
      await writtenBy(home, [
        "reprise sessions list",
        "reprise sessions list --json",
        "reprise sessions show abcdef1",
        "reprise sessions show abcdef1 --all --json",
        "reprise sessions show abcdef1 --json",
        "reprise sessions archive abcdef1",
        "reprise sessions show abcdef",
        "reprise sessions show abcdef --json",
        "reprise sessions export abcdef1",
        "reprise sessions export abcdef1 --format md",
        "reprise sessions prune --older-than 1d --dry-run",
        "reprise sessions verify",
        "reprise sessions verify abcdef1 --json",
        "reprise sessions repair abcdef1",
        "reprise --session abcdef1 -p hello",
        "reprise doctor",
        "reprise copy --to copy.db",
      ]),
      [
        "reprise sessions prune --older-than 1d --dry-run",
        "reprise sessions verify",
        "reprise sessions verify abcdef1 --json",
        "reprise sessions repair abcdef1",
        "reprise --session abcdef1 -p hello",
        "reprise doctor",
        "reprise copy --to copy.db",
      ],
    );
    const picker = openTerminal(home, "reprise sessions resume --plain");
    await picker.shows(/a␛\[2J[^\0]*Which one\? $/);
    picker.type("1\r");
    await picker.shows(/a␛\[2J[^\0]*> $/);
    picker.type("/model\r/agent\r/help\r");
    await picker.shows(/\/\/text[^\n]*\n> $/);
    picker.type("/end\r");
    await picker.shows(/y\/N $/);
    picker.type("y\r");
    await picker.finished;
    const asked = openTerminal(home, "reprise sessions delete abcdef2");
    await asked.shows(/a␛\[2J[^\0]*\[y\/N\] $/);
    asked.type("y\r");
    await asked.finished;
    expectClean(new Map([["delete", asked.written().replace(EDITING, "")]]));
    expectClean(new Map([["picker", picker.written().replace(EDITING, "")]]));
  });

  it("[SCREEN-1] [SCREEN-2] is shown escaped in every field of an open question", async () => {
    const home = freshHome();
    const id = idLike("abcdef1");
    await seed(home, { id, messages: ["one"] });
    const planted = await plantQuestions(home, id);
    const fields = textFields(JSON.parse(JSON.stringify(QuestionInfo)) as Schema);
    // ids of choices are words of a list, and the others are of an answer
    const others = ["id", "default_answer", "choice", "answer", "note", "answered_who", "path"];
    expect(fields.filter((field) => ![...planted, ...others].includes(field))).toEqual([]);
    const written = await writtenBy(home, [
      "reprise sessions answer abcdef1",
      "reprise sessions answer abcdef1 --json",
      "reprise sessions show abcdef1",
    ]);
    expectClean(written);
    const [listed = ""] = [...written.values()];
    // the text, the rule of the longer answers, a label and a meaning
    expect(listed.match(/a␛\[2J/g)?.length).toBeGreaterThan(4);
  });

  it("[SCREEN-1] [SCREEN-2] is shown escaped in plans, schemas, personas and arguments", async () => {
    const home = freshHome();
    const phase = { key: HOSTILE, title: HOSTILE, role: HOSTILE, instructions: HOSTILE };
    const plan = { runId: idLike("abcdef1"), phaseKey: HOSTILE, phases: [phase], [HOSTILE]: 1 };
    writeFileSync(join(home.project, "plan.json"), JSON.stringify(plan));
    const good = { ...phase, key: "a", instructions: `${HOSTILE} and more` };
    const valid = { runId: idLike("abcdef1"), phaseKey: HOSTILE, phases: [good] };
    writeFileSync(join(home.project, "valid.json"), JSON.stringify(valid));
    writeFileSync(join(home.project, "bad.yaml"), `a: "${STORED}\n  - [`);
    mkdirSync(join(home.project, ".reprise/schemas"), { recursive: true });
    const schema = { $id: `own/x@1`, title: HOSTILE, description: HOSTILE, type: "object" };
    writeFileSync(join(home.project, ".reprise/schemas/x.json"), JSON.stringify(schema));
    mkdirSync(join(home.project, ".reprise/personas"), { recursive: true });
    writeFileSync(
      join(home.project, `.reprise/personas/evil.md`),
      `---\nname: evil\ndescription: "${JSON.stringify(STORED).slice(1, -1)}"\nmodel: "${STORED.replace(/\p{Cc}/gu, "")}"\n---\n${STORED}\n`,
    );
    const unshown = [
      "reprise schema list",
      "reprise trust list",
      "reprise plan validate bad.yaml",
      "reprise doctor --json",
      "reprise --trust --persona evil -p hello",
      `reprise sessions show ${PASSED}`,
      `reprise --persona ${PASSED} -p hello`,
      `reprise --model ${PASSED} -p hello`,
      `reprise ${PASSED}`,
      `reprise --database ${PASSED} sessions list`,
      "reprise sessions import plan.json",
    ];
    expectClean(
      await writtenBy(home, [
        "reprise plan validate plan.json",
        "reprise plan validate --json plan.json",
        "reprise plan validate --format sarif plan.json",
        "reprise plan validate --format github plan.json",
        "reprise plan show valid.json",
        "reprise plan show --json valid.json",
        "reprise plan graph valid.json",
        "reprise plan graph --format dot valid.json",
        "reprise plan graph --format svg valid.json",
        "reprise schema list --json",
        "reprise schema show own/x@1",
        ...unshown,
      ]),
      unshown,
    );
  });

  it("[SCREEN-1] [SCREEN-2] is shown escaped in what a model and a provider answer", async () => {
    const call = { name: HOSTILE, arguments: JSON.stringify({ [HOSTILE]: HOSTILE }), id: STORED };
    const server = await startModelServer({
      answer: (messages) => {
        const last = messages.at(-1);
        if (last?.content === "fail") {
          return { error: { message: HOSTILE, type: HOSTILE, code: HOSTILE }, status: 400 };
        }
        return last?.role === "user" ? { toolCalls: [call] } : { content: HOSTILE };
      },
    });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
    const written = await writtenBy(home, [
      "reprise -p hello",
      "reprise -p hello --json",
      "reprise -p fail",
      "reprise -p fail --json",
    ]);
    expectClean(written, ["reprise -p fail", "reprise -p fail --json"]);
    // an unpaired surrogate is shown as it is stored
    expect(written.get("reprise -p hello")).toMatch(/f\ufffd\r\nResume with/);
    const lines = openTerminal(home, "reprise");
    await lines.shows(/> $/);
    lines.type("hello\r");
    await lines.shows(/· a␛\[2J[^\0]*\na␛\[2J[^\0]*\n> $/);
    lines.type(CTRL_D);
    await lines.finished;
    expectClean(new Map([["lines", lines.written().replace(EDITING, "")]]));
  });
});

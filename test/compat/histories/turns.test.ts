import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, it, onTestFinished } from "vitest";

import { PROGRAMS } from "../../../src/compat/histories/history.ts";
import { createDatabase } from "../../helpers/database.ts";
import { placeHistory } from "../../helpers/foreign-histories.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { text } from "../../helpers/providers/steps.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";

interface Fork {
  readonly id: string;
  readonly last_seq: number;
  readonly forked_from: { readonly session_id: string; readonly seq: number };
}

interface Shown {
  readonly messages: readonly {
    readonly seq: number;
    readonly role: string;
    readonly content: string;
    readonly is_summary: boolean;
  }[];
}

async function importOne(home: Home, program: string, file: string): Promise<string> {
  const args = ["sessions", "import", "--from", program, file, "--json"];
  const { sessions } = await home.json<{ sessions: { id: string }[] }>(args);
  return sessions[0]?.id ?? "";
}

it.each(PROGRAMS)(
  "[FORK-22] [FOREIGN-41] a session of %s is forked at the end of each turn, also from a copy of its export",
  async (program) => {
    const provider = await startProvider("anthropic", () => [text("Yes.")]);
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const database = await createDatabase();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const home = freshHome({
      ...provider.env,
      REPRISE_MODEL: "anthropic:claude-sonnet-5-5",
      REPRISE_DATABASE: database.location,
    });
    const id = await importOne(home, program, placeHistory(program, home));
    const { messages } = await home.json<Shown>(["sessions", "show", id, "--json"]);
    const asked = messages.filter(({ role }) => role === "user").map(({ seq }) => seq);
    expect(asked.length).toBeGreaterThan(1);
    const file = join(home.home, "export.json");
    writeFileSync(file, (await home.call(["sessions", "export", id])).stdout);
    const copy = await home.call(["sessions", "import", file, "--new-ids"]);
    const copied = /[\da-f-]{36}/.exec(copy.stdout)?.[0] ?? "";
    for (const origin of [id, copied]) {
      for (const [turn, seq] of asked.slice(1).entries()) {
        // a message in the middle of a turn names the end of the turn before
        const { forked_from, last_seq } = await home.json<Fork>([
          "sessions",
          "fork",
          origin,
          "--at",
          `${seq}`,
          "--json",
        ]);
        expect([turn, forked_from, last_seq]).toEqual([
          turn,
          { session_id: origin, seq: seq - 1 },
          seq - 1,
        ]);
      }
    }
    const second = asked[1] ?? 0;
    const fork = await home.json<Fork>(["sessions", "fork", id, "--at", `${second}`, "--json"]);
    const next = await home.call(["--session", fork.id, "-p", "Is that all?"]);
    expect([next.code, provider.refusals()]).toEqual([0, []]);
    const sent = JSON.stringify(provider.requests.at(-1));
    expect([sent.includes("two greetings"), sent.includes("Let a helper")]).toEqual([true, false]);
    const back = await home.run(["--session", id], { input: `/rewind ${second}\n` });
    expect(back.stderr).toContain(`It begins after message ${second - 1} of `);
    expect((await home.call(["sessions", "delete", id, "--yes"])).code).toBe(0);
    expect((await home.call(["sessions", "verify"])).code).toBe(0);
  },
);

/** History of pi with short messages: what checkpoints take counts most then. */
function longHistory(messages: number): string {
  const lines: object[] = [
    { type: "session", id: "long", cwd: "/", timestamp: "2026-11-27T08:00:00.000Z" },
  ];
  for (let index = 0; index < messages; index += 1) {
    const words = Array.from({ length: index % 2 === 0 ? 12 : 60 }, (_, at) => `w${index + at}`);
    lines.push({
      type: "message",
      id: `m${index}`,
      parentId: index === 0 ? null : `m${index - 1}`,
      timestamp: "2026-11-27T08:00:00.000Z",
      message: {
        role: index % 2 === 0 ? "user" : "assistant",
        content: [{ type: "text", text: words.join(" ") }],
      },
    });
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

it("[FOREIGN-41] [FOREIGN-42] 2,000 messages are stored once, and their turns add a tenth at most", async () => {
  const home = freshHome();
  const file = join(home.home, "long.jsonl");
  const whole = longHistory(2000);
  // an import of a part first
  writeFileSync(file, whole.split("\n").slice(0, 1000).join("\n"));
  const id = await importOne(home, "pi", file);
  const fork = await home.json<Fork>(["sessions", "fork", id, "--json"]);
  writeFileSync(file, whole);
  expect(await importOne(home, "pi", file)).toBe(id);
  expect((await home.call(["sessions", "verify"])).code).toBe(0);
  expect((await home.call(["sessions", "delete", fork.id, "--yes"])).code).toBe(0);

  using database = new DatabaseSync(home.database);
  const number = (sql: string): number =>
    Number(Object.values(database.prepare(sql).get() ?? {})[0]);
  const size = (): number => {
    database.exec("VACUUM");
    return number("PRAGMA page_count");
  };
  expect([
    number("SELECT count(*) FROM checkpoint_bodies"),
    number("SELECT count(*) FROM checkpoint_list_items"),
    number("SELECT count(*) FROM checkpoints"),
  ]).toEqual([2001, 2000, 1000]);
  const stored = size();
  database.exec("DELETE FROM checkpoints WHERE id < (SELECT max(id) FROM checkpoints)");
  expect(stored / size()).toBeLessThan(1.1);
});

import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { freshHome, type Home } from "../helpers/reprise.ts";
import { detailOf, idLike, rowsOf, seed } from "../helpers/sessions/seed.ts";

interface VerifyDocument {
  readonly session_id: string;
  readonly ok: boolean;
  readonly messages: number;
  readonly pending: number;
  readonly threads: number;
  readonly findings: readonly { readonly kind: string; readonly seq: number | null }[];
}

describe("sessions verify", () => {
  it("[PROOF-11] agrees with a correct session, and exits with 1 on a difference", async () => {
    const home = freshHome();
    const id = await twoExchanges(home);
    const [text, json] = await Promise.all([
      home.call(["sessions", "verify", id.slice(0, 8)]),
      home.call(["sessions", "verify", id, "--json"]),
    ]);
    expect(text).toEqual({
      code: 0,
      stderr: "",
      stdout: `${id}  messages and checkpoints agree (4 messages, 1 thread)\n`,
    });
    expect(JSON.parse(json.stdout)).toEqual({
      session_id: id,
      ok: true,
      messages: 4,
      pending: 0,
      threads: 1,
      findings: [],
    });

    plant(home, "UPDATE messages SET content = 'a secret' WHERE seq = 2");
    plant(home, "DELETE FROM messages WHERE seq = 4");
    const [damaged, document] = await Promise.all([
      home.call(["sessions", "verify", id]),
      home.call(["sessions", "verify", id, "--json"]),
    ]);
    expect(damaged).toMatchObject({
      code: 1,
      stdout: `missing: A message (assistant) of thread 0 has no row.
different: Message 2 differs from its checkpoint in content.
${id}  2 differences
`,
      stderr: `Fix it with: reprise sessions repair ${id}\n`,
    });
    expect(document).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(document.stdout)).toMatchObject({
      ok: false,
      findings: [
        { kind: "missing", seq: null },
        { kind: "different", seq: 2 },
      ],
    });
  });

  it("[PROOF-11] names no repair for what a repair leaves unchanged", async () => {
    const home = freshHome();
    const id = idLike("abcdef1");
    await seed(home, { id, messages: ["one"] });
    plant(home, "UPDATE sessions SET depth = 2");
    const { code, stderr } = await home.call(["sessions", "verify", id]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^A repair would leave this unchanged, [^\n]*\n$/);
    plant(home, "UPDATE sessions SET title = 'another'");
    expect((await home.call(["sessions", "verify", id])).stderr).toContain("sessions repair");
  });

  it("[PROOF-11] [PLANRUN-121] names for each difference what helps against it, and no repair for a run", async () => {
    const home = freshHome();
    const [run, other] = [idLike("abcdef1"), idLike("abcdef2")];
    await seed(home, { id: run, messages: ["one"] }, { id: other, messages: ["one"] });
    plant(home, `UPDATE sessions SET agent = 'plan' WHERE id = '${run}'`);
    const again =
      "A repair leaves a run unchanged, because nothing shows what its phases did. Restore a backup, or run the plan once more with `reprise plan run <plan> --again`.\n";
    expect((await home.call(["sessions", "verify", run])).stderr).toBe(again);
    const see = "See one with: reprise sessions verify <id>\n";
    expect((await home.call(["sessions", "verify"])).stderr).toBe(`${see}${again}`);
    plant(home, `UPDATE sessions SET title = 'another' WHERE id = '${other}'`);
    expect((await home.call(["sessions", "verify"])).stderr).toBe(
      `${see}title: Fix it with: reprise sessions repair <id>\nrun: ${again}`,
    );
  });

  it("[PROOF-11] refuses an id that is unknown, or the prefix of several sessions", async () => {
    const home = freshHome();
    await seed(home, { id: idLike("abcdef1") }, { id: idLike("abcdef2") });
    const unknown = await home.call(["sessions", "verify", "abcdea"]);
    expect(unknown).toMatchObject({ code: 3, stdout: "" });
    expect(unknown.stderr).toMatch(/^reprise: .*\[session_not_found\]\n$/);
    for (const command of ["verify", "repair"]) {
      expect(await home.call(["sessions", command, "abcdef"])).toMatchObject({
        code: 4,
        stdout: "",
      });
    }
    expect(await home.call(["sessions", "repair"])).toMatchObject({ code: 2, stdout: "" });
  });

  it("[PROOF-19] checks every session even if some cannot be read, and names each that is damaged", async () => {
    const home = freshHome();
    const [first, second, third] = [
      await twoExchanges(home),
      await twoExchanges(home),
      await twoExchanges(home),
    ];
    const gone = idLike("abcdef1");
    await seed(home, { id: gone, messages: ["one", "two"] });
    for (const id of [first, second]) {
      plant(
        home,
        `UPDATE checkpoint_lists SET base = 999999, base_length = 1 WHERE thread IN (SELECT id FROM threads WHERE thread_id LIKE '${id}:%')`,
      );
    }
    plant(home, `UPDATE messages SET content = 'x' WHERE session_id = '${third}' AND seq = 2`);
    plant(home, `PRAGMA foreign_keys = OFF; DELETE FROM sessions WHERE id = '${gone}'`);

    const { code, stdout, stderr } = await home.call(["sessions", "verify", "--json"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as VerifyDocument);
    const kinds = lines
      .slice(0, -1)
      .map((line) => [line.session_id, line.findings.map(({ kind }) => kind)]);
    expect(Object.fromEntries(kinds)).toEqual({
      [first]: ["checkpoint_damaged"],
      [second]: ["checkpoint_damaged"],
      [third]: ["different"],
      [gone]: ["session_missing"],
    });
    expect(lines.at(-1)).toEqual({
      ok: false,
      sessions: 3,
      messages: 14,
      different: 4,
      findings: 4,
    });
  });

  it("[PROOF-12] checks all sessions, with a line for each that differs and a summary", async () => {
    const home = freshHome();
    const id = await twoExchanges(home);
    await seed(
      home,
      { id: idLike("abcdef1"), messages: ["waits"] },
      { id: idLike("abcdef2"), messages: ["ended", "twice"], ended: true },
      { id: idLike("abcdef3") },
    );
    expect(await home.call(["sessions", "verify"])).toMatchObject({
      code: 0,
      stdout: "4 sessions, 7 messages: messages and checkpoints agree\n",
      stderr: "",
    });
    plant(home, "DELETE FROM messages WHERE seq = 2");
    const text = await home.call(["sessions", "verify"]);
    expect(text.code).toBe(1);
    expect(text.stdout.split("\n").sort()).toEqual(
      [
        "",
        `${id}  1 difference: 1 missing`,
        `${idLike("abcdef2")}  2 differences: 1 totals, 1 last_seq`,
        "4 sessions, 5 messages: 2 sessions with differences",
      ].sort(),
    );
    const json = await home.call(["sessions", "verify", "--json"]);
    expect(json).toMatchObject({ code: 1, stderr: "" });
    const lines = json.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toHaveLength(3);
    expect(lines.at(-1)).toEqual({
      ok: false,
      sessions: 4,
      messages: 5,
      different: 2,
      findings: 3,
    });
    expect((lines[0] as VerifyDocument).ok).toBe(false);
  });
});

describe("sessions repair", () => {
  it("[PROOF-13] fixes what verify finds, reports what it did, and then has nothing to do", async () => {
    const home = freshHome();
    const id = await twoExchanges(home);
    const before = await detailOf(home, id);
    plant(home, "UPDATE messages SET content = 'x', archived = 1 WHERE seq = 2");
    plant(home, "DELETE FROM messages WHERE seq = 4");
    plant(home, "UPDATE sessions SET total_input_tokens = 0");
    expect(await home.call(["sessions", "repair", id.slice(0, 8)])).toMatchObject({
      code: 0,
      stderr: "",
      stdout: `missing: 1 fixed
different: 1 fixed
archived: 1 fixed
totals: 1 fixed
${id}  repaired: 1 row added, 1 changed, 0 removed, 0 at another position
`,
    });
    const after = await detailOf(home, id);
    expect(rowsOf(after)).toEqual(rowsOf(before));
    expect(after.total_input_tokens).toBe(before.total_input_tokens);
    expect(await home.call(["sessions", "verify", id])).toMatchObject({ code: 0 });

    expect(await home.call(["sessions", "repair", id])).toMatchObject({
      code: 0,
      stdout: `${id}  nothing to repair: messages and checkpoints agree\n`,
    });
    expect(await home.json(["sessions", "repair", id, "--json"])).toEqual({
      session_id: id,
      repaired: false,
      findings: [],
      rows: { removed: 0, added: 0, changed: 0, moved: 0 },
    });
    // the agent still knows all of it
    const third = ["--session", id, "-p", "third", "--json"];
    const { answer } = await home.json<{ answer: string }>(third);
    expect(answer).toContain("first");
  });

  it("[STORE-55] [STORE-73] says on standard error that it lowered the total of input tokens", async () => {
    const home = freshHome();
    const id = await twoExchanges(home);
    const before = await detailOf(home, id);
    plant(home, "UPDATE sessions SET total_input_tokens = 100000");
    const repaired = await home.call(["sessions", "repair", id, "--json"]);
    expect(repaired).toMatchObject({
      code: 0,
      stderr: `note: total_input_tokens was lowered from 100000 to ${before.total_input_tokens}.\n`,
    });
    expect(Object.keys(JSON.parse(repaired.stdout) as object)).toEqual([
      "session_id",
      "repaired",
      "findings",
      "rows",
    ]);
    expect((await detailOf(home, id)).total_input_tokens).toBe(before.total_input_tokens);
  });

  it("[PROOF-7] [PROOF-13] refuses to repair from a damaged checkpoint, and leaves the messages", async () => {
    const home = freshHome();
    const id = await twoExchanges(home);
    plant(home, "DELETE FROM checkpoint_list_items WHERE position = 0");
    plant(home, "UPDATE messages SET archived = 1 WHERE seq = 2");
    const before = await detailOf(home, id);
    const refused = await home.call(["sessions", "repair", id]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(
      /^reprise: The latest checkpoint of thread \S+:0 is damaged.*\n$/,
    );
    expect(await detailOf(home, id)).toEqual(before);
  });
});

async function twoExchanges(home: Home): Promise<string> {
  const first = ["--model", "demo", "-p", "first", "--json"];
  const { session_id } = await home.json<{ session_id: string }>(first);
  await home.json(["--session", session_id, "-p", "second", "--json"]);
  return session_id;
}

function plant(home: Home, sql: string): void {
  const hand = new DatabaseSync(home.database);
  hand.exec(sql);
  hand.close();
}

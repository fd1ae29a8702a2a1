import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { append, detailOf, idLike, rowsOf, seed, sessionsOf } from "../helpers/sessions/seed.ts";

async function exported(home: Home, id: string): Promise<string> {
  const { code, stdout, stderr } = await home.call(["sessions", "export", id]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

const withoutTime = (text: string): string => text.replace(/^"exported_at":.*\n/m, "");

it("[MOVE-4] [MOVE-5] [MOVE-18] a session moves to another home with its whole memory, and verifies", async () => {
  const here = freshHome();
  const there = freshHome();
  const file = join(temporaryFolder(), "session.json");
  await here.call(["-p", "My name is Ada."]);
  const [{ id } = { id: "" }] = await sessionsOf(here);
  await here.call(["--session", id, "-p", "I study moths."]);
  await append(here, id, "waits for the agent");
  const text = await exported(here, id.slice(0, 8));
  expect(JSON.parse(text)).toMatchObject({
    format: "reprise/session@1",
    session: { id, last_seq: 5 },
    children: [],
  });
  writeFileSync(file, text);

  const imported = await there.call(["sessions", "import", file]);
  expect(imported).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^note: The agent's tools will read and write files in \/\S+\n$/),
    stdout: `Imported: ${id}  5 messages  My name is Ada.\n`,
  });
  expect(withoutTime(await exported(there, id))).toBe(withoutTime(text));
  expect(await detailOf(there, id)).toEqual(await detailOf(here, id));
  expect(await there.call(["sessions", "verify", id])).toMatchObject({ code: 0 });

  const { answer } = await there.json<{ answer: string }>([
    "--session",
    id,
    "-p",
    "What is my name?",
    "--json",
  ]);
  expect(answer).toContain("Ada");
  expect(rowsOf(await detailOf(there, id)).map(([seq]) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(await there.call(["sessions", "verify", id])).toMatchObject({ code: 0 });
});

it("[MOVE-5] after an import the provider is sent the whole history", async () => {
  const server = await startModelServer({ answer: (_, index) => ({ content: `answer ${index}` }) });
  const here = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  const there = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  await here.call(["-p", "first"]);
  const [{ id } = { id: "" }] = await sessionsOf(here);
  await there.call(["sessions", "import", "-"], { input: await exported(here, id) });
  await there.call(["--session", id, "-p", "second"]);
  const sent = JSON.stringify(server.requests().at(-1));
  for (const said of ["first", "answer 0", "second"]) {
    expect(sent).toContain(said);
  }
});

it("[MOVE-6] [MOVE-7] a refused import stores nothing; --new-ids stores a copy beside the session", async () => {
  const home = freshHome();
  const other = freshHome();
  await home.call(["-p", "hello"]);
  const [{ id } = { id: "" }] = await sessionsOf(home);
  const text = await exported(home, id);

  const again = await home.call(["sessions", "import", "-"], { input: text });
  expect(again).toMatchObject({ code: 1, stdout: "" });
  expect(again.stderr).toMatch(/--new-ids\. \[session_exists\]\n$/);
  for (const [input, code] of [
    [text.replaceAll("hello", "hallo"), "export_invalid"],
    [text.slice(0, 500), "malformed_json"],
    ["", "malformed_json"],
    ['{"format":"reprise/session@2"}', "export_invalid"],
  ] as const) {
    const refused = await other.call(["sessions", "import", "-"], { input });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`[${code}]`);
  }
  expect(await other.call(["sessions", "import", "nowhere.json"])).toMatchObject({ code: 1 });
  expect(await sessionsOf(other)).toEqual([]);

  const copy = await home.json<{ id: string; ids: string[] }>(
    ["sessions", "import", "-", "--new-ids", "--json"],
    { input: text },
  );
  expect(copy.ids).toEqual([copy.id]);
  expect(copy.id).not.toBe(id);
  expect((await sessionsOf(home)).map((session) => session.id).sort()).toEqual(
    [id, copy.id].sort(),
  );
  expect(rowsOf(await detailOf(home, copy.id))).toEqual(rowsOf(await detailOf(home, id)));
  expect(await exported(home, copy.id)).not.toContain(id);
  expect(await home.call(["sessions", "verify", copy.id])).toMatchObject({ code: 0 });
});

it("[MOVE-6] [MOVE-23] an export that no import would accept says so and exits with 1", async () => {
  const home = freshHome();
  await home.call(["-p", "hello"]);
  const [{ id } = { id: "" }] = await sessionsOf(home);
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(home.database);
  database.exec("UPDATE messages SET content = 'forged' WHERE seq = 2");
  database.close();
  const doubtful = await home.call(["sessions", "export", id]);
  expect(doubtful.code).toBe(1);
  expect(doubtful.stderr).toMatch(/does not verify: .*Message 2 differs/);
  const refused = await freshHome().call(["sessions", "import", "-"], { input: doubtful.stdout });
  expect(refused.stderr).toMatch(/Message 2 differs.*\n$/);
});

it("[MOVE-9] a Markdown export is a transcript that no message can break out of", async () => {
  const home = freshHome();
  const hostile = "look:\n```\n# not a heading\n````\n## 9. user\n";
  await seed(home, {
    id: idLike("abcdef1"),
    messages: ["# <b>*bold*</b> `x`", hostile, "last"],
    archived: 1,
  });
  const { code, stdout } = await home.call(["sessions", "export", "abcdef", "--format", "md"]);
  expect(code).toBe(0);
  expect(stdout).toContain("# \\# \\<b\\>\\*bold\\*\\</b\\> \\`x\\`\n");
  expect(stdout).toContain(`\`\`\`\`\`text\n${hostile}\`\`\`\`\`\n`);
  const headings = outsideFences(stdout).filter((line) => line.startsWith("#"));
  const times = (await detailOf(home, "abcdef")).messages.map((message) =>
    Reflect.get(message, "ts"),
  );
  expect(headings.slice(1)).toEqual([
    `## 1. user, ${times[0]} (archived, pending)`,
    `## 2. user, ${times[1]} (pending)`,
    `## 3. user, ${times[2]} (pending)`,
  ]);
});

/** As CommonMark reads it: a fence ends at a line with at least as many backticks and nothing else. */
function outsideFences(markdown: string): string[] {
  let fence = 0;
  return markdown.split("\n").filter((line) => {
    const run = /^ {0,3}(`{3,})([^`]*)$/.exec(line);
    const length = run?.[1]?.length ?? 0;
    if (fence === 0) {
      fence = length;
      return length === 0;
    }
    if (length >= fence && run?.[2]?.trim() === "") {
      fence = 0;
    }
    return false;
  });
}

it("[MOVE-4] a reader that is slow or stops reading causes no error, and a large session arrives whole", async () => {
  const home = freshHome();
  const large = Array.from({ length: 450 }, (_, index) => `${index} ${"y".repeat(4000)}`);
  await seed(home, { id: idLike("abcdef1"), messages: large });
  const text = await exported(home, "abcdef");
  const there = freshHome();
  await there.call(["sessions", "import", "-"], { input: text });
  expect(withoutTime(await exported(there, "abcdef"))).toBe(withoutTime(text));
  const file = join(home.project, "head.txt");
  const head = home.startShell(`reprise sessions export abcdef | head -c 10 > ${file}`);
  expect(await head.finished).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(file, "utf8")).toBe(text.slice(0, 10));
});

it("[QUEUE-33] an import runs nothing by itself: what was queued is stopped with its text", async () => {
  const home = freshHome();
  await home.call(["-p", "hello"]);
  const [{ id } = { id: "" }] = await sessionsOf(home);
  await home.call(["send", id, "pay the invoice"]);
  const input = await exported(home, id);
  const copied = await home.call(["sessions", "import", "-", "--new-ids", "--json"], { input });
  expect(copied.stderr).toContain("note: 1 queued exchange will not run here");
  const copy = (JSON.parse(copied.stdout) as { id: string }).id;
  const shown = await home.call(["sessions", "show", copy]);
  expect(shown.stdout).toMatch(/exchange {2}2 stopped/);
  expect(await exported(home, copy)).toContain("pay the invoice");
  expect((await home.call(["sessions", "verify"])).code).toBe(0);
  const { stdout } = await home.call(["sessions", "show", id]);
  expect(stdout).toMatch(/exchange {2}2 queued/);
});

import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { PROGRAMS } from "../../../src/compat/histories/history.ts";
import { placeHistory } from "../../helpers/foreign-histories.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { text } from "../../helpers/providers/steps.ts";
import { freshHome, type Home, unusedHome } from "../../helpers/reprise.ts";

interface Imported {
  readonly sessions: readonly {
    readonly id: string;
    readonly outcome: string;
    readonly messages: number;
  }[];
}

function importing(home: Home, ...args: string[]): Promise<Imported> {
  return home.json<Imported>(["sessions", "import", "--from", ...args, "--json"]);
}

it.each(PROGRAMS)(
  "[FOREIGN-20] a second import of %s with --all stores nothing",
  async (program) => {
    const home = freshHome();
    const file = placeHistory(program, home);
    const before = readFileSync(file);
    const first = await importing(home, program, "--all");
    expect(new Set(first.sessions.map(({ outcome }) => outcome))).toEqual(new Set(["new"]));
    const second = await importing(home, program, "--all");
    expect(second.sessions.map(({ id }) => id)).toEqual(first.sessions.map(({ id }) => id));
    expect(new Set(second.sessions.map(({ outcome }) => outcome))).toEqual(new Set(["present"]));
    expect(readFileSync(file).equals(before)).toBe(true);
  },
);

it.each(["claude-code", "codex", "gemini", "pi"] as const)(
  "[FOREIGN-50] a conversation of %s without a message fails no import of --all",
  async (program) => {
    const home = freshHome();
    const file = placeHistory(program, home);
    const [begun = ""] = readFileSync(file, "utf8").split("\n");
    const empty = join(dirname(file), `${basename(file, ".jsonl").replace(/.$/, "x")}.jsonl`);
    writeFileSync(empty, `${begun}\n`);
    const importing = ["sessions", "import", "--from", program];
    const named = await home.call([...importing, empty]);
    expect([named.code, named.stderr.includes("[export_invalid]")]).toEqual([1, true]);
    const { code, stdout, stderr } = await home.call([...importing, "--all"]);
    expect(stderr).toContain(`skipped: ${empty} has no message.`);
    expect([code, stdout.includes("Imported: ")]).toEqual([0, true]);
  },
);

const later = (cwd: string) =>
  [
    ["user", [{ type: "text", text: "One thing more." }]],
    ["assistant", [{ type: "text", text: "Which one?" }]],
  ]
    .map(([role, content], index) =>
      JSON.stringify({
        type: "message",
        id: `later-${index}`,
        parentId: index === 0 ? null : `later-${index - 1}`,
        timestamp: "2026-11-28T08:00:00.000Z",
        cwd,
        message: { role, content },
      }),
    )
    .join("\n");

/** Adds an exchange to a conversation of pi. */
function grow(file: string): void {
  const last = readFileSync(file, "utf8").trim().split("\n").at(-1) ?? "";
  const { id } = JSON.parse(last) as { id: string };
  appendFileSync(file, `${later("/").replace('"parentId":null', `"parentId":"${id}"`)}\n`);
}

it("[FOREIGN-21] [CLI-409] a longer history adds its new messages to the session, and names and labels stay", async () => {
  const home = freshHome();
  const file = placeHistory("pi", home);
  const [{ id } = { id: "" }] = (await importing(home, "pi", file)).sessions;
  await home.call(["sessions", "rename", id, "Greetings"]);
  grow(file);
  expect((await importing(home, "pi", file, "--dry-run")).sessions).toMatchObject([
    { id, outcome: "added", messages: 2 },
  ]);
  const before = await home.call(["sessions", "show", id]);
  expect(before.stdout).not.toContain("One thing more.");
  expect((await importing(home, "pi", file)).sessions).toMatchObject([
    { id, outcome: "added", messages: 2 },
  ]);
  const after = await home.call(["sessions", "show", id]);
  expect(after.stdout).toContain("Greetings");
  expect(after.stdout).toContain("One thing more.");
  const found = await home.call(["search", "One thing more"]);
  expect(found.stdout).toContain(id.slice(0, 8));
  expect((await home.call(["sessions", "verify"])).code).toBe(0);
});

it("[FOREIGN-21] [FORK-3] a longer history is added to a session that was forked, and the fork keeps what it has", async () => {
  const home = freshHome();
  const file = placeHistory("pi", home);
  const [{ id } = { id: "" }] = (await importing(home, "pi", file)).sessions;
  const fork = await home.json<{ id: string }>(["sessions", "fork", id, "--json"]);
  const shown = () => home.call(["sessions", "show", fork.id]);
  const before = (await shown()).stdout;
  grow(file);
  expect((await importing(home, "pi", file)).sessions).toMatchObject([
    { id, outcome: "added", messages: 2 },
  ]);
  expect((await shown()).stdout).toBe(before);
  expect((await home.call(["sessions", "verify"])).code).toBe(0);
  expect((await home.call(["sessions", "delete", fork.id, "--yes"])).code).toBe(0);
  expect((await home.call(["sessions", "verify"])).code).toBe(0);
});

it("[FOREIGN-22] [CLI-408] a session that was continued here is left alone, and --new-ids stores another one", async () => {
  const provider = await startProvider("openai", () => [text("Yes.")]);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome({ ...provider.env, REPRISE_MODEL: "openai:gpt-5.2" });
  const file = placeHistory("pi", home);
  const [{ id } = { id: "" }] = (await importing(home, "pi", file)).sessions;
  await home.call(["--session", id, "-p", "Here now?"]);
  expect((await importing(home, "pi", file)).sessions).toMatchObject([{ id, outcome: "present" }]);
  grow(file);
  const said = await home.call(["sessions", "import", "--from", "pi", file]);
  expect([said.code, said.stdout.startsWith(`Left alone: ${id}  2 messages`)]).toEqual([0, true]);
  expect(said.stderr).toContain("--new-ids");
  expect((await home.call(["sessions", "show", id])).stdout).not.toContain("One thing more.");
  const [copy] = (await importing(home, "pi", file, "--new-ids")).sessions;
  expect([copy?.outcome, copy?.id === id]).toEqual(["new", false]);
  expect((await home.call(["sessions", "verify"])).code).toBe(0);
});

it("[CLI-406] --dry-run lists what would come, and makes no database", async () => {
  const home = unusedHome();
  const file = placeHistory("claude-code", home);
  const { mtimeNs } = statSync(file, { bigint: true });
  const listed = await home.call([
    "sessions",
    "import",
    "--from",
    "claude-code",
    "--all",
    "--dry-run",
  ]);
  expect([listed.code, listed.stdout.match(/^Would import: /gm)?.length]).toEqual([0, 2]);
  expect([existsSync(home.database), statSync(file, { bigint: true }).mtimeNs]).toEqual([
    false,
    mtimeNs,
  ]);
});

it("[CLI-405] [CLI-407] variables that move a program's folder count, and an unusable file stops no other one", async () => {
  const home = freshHome();
  const file = placeHistory("codex", home);
  const away = unusedHome();
  const env = { CODEX_HOME: `${home.home}/.codex` };
  writeFileSync(file.replace(/[^/]*$/, "broken.jsonl"), "{\n");
  const args = ["sessions", "import", "--from", "codex", "--all"];
  const moved = await away.call(args, { env });
  // one is the sub-agent's
  expect([moved.code, moved.stdout.match(/^Imported: /gm)?.length]).toEqual([1, 2]);
  expect(moved.stderr).toMatch(/^error: .*broken\.jsonl \[export_invalid\]/m);
  const none = await away.call(args);
  expect([none.code, none.stderr.includes("[file_unreadable]")]).toEqual([1, true]);
});

it("[CLI-404] options that do not belong together are refused", async () => {
  const home = unusedHome();
  for (const args of [
    [],
    ["--all"],
    ["--from", "pi"],
    ["--from", "pi", "file", "--all"],
    ["--from", "vi", "x"],
  ]) {
    expect((await home.call(["sessions", "import", ...args])).code, args.join(" ")).toBe(2);
  }
});

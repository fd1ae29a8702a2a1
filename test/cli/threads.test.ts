import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";

import { RepriseSaver } from "../../src/entries/langgraph.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { execute } from "../helpers/engines.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { openTerminal } from "../helpers/terminal.ts";
import { putMessages, startOf } from "../helpers/sessions/thread.ts";

const HOSTILE = "\u001b]0;owned\u0007\u202ethread\nREADY  yes\u2028 --yes";
const SHOWN = "␛]0;owned␇<U+202E>thread␊READY  yes<U+2028> --yes";

/** A thread with two checkpoints of three messages for each of the ids. */
async function withThreads(home: Home, ...ids: readonly string[]): Promise<void> {
  await using store = await openSqliteStore({ path: home.database });
  const saver = RepriseSaver.from(store);
  for (const id of ids) {
    const first = new HumanMessage({ id: "q", content: "question\u001b[2J" });
    const call = { id: "c", name: "look\u001b[2J", args: { at: 1 } };
    const others = [
      new AIMessage({ id: "a", content: "", tool_calls: [call] }),
      new AIMessage({ id: "b", content: "answer" }),
    ];
    const after = await putMessages(saver, { after: startOf(id), messages: [first], version: 1 });
    await putMessages(saver, { after, messages: [first, ...others], version: 2 });
  }
}

async function idsOf(home: Home): Promise<string[]> {
  const threads = await home.json<{ thread_id: string }[]>(["threads", "list", "--json"]);
  return threads.map(({ thread_id }) => thread_id);
}

it("[THREAD-12] [THREAD-21] lists threads without a session, and says where the others are", async () => {
  const home = freshHome();
  expect(await home.call(["threads", "list"])).toMatchObject({
    code: 0,
    stdout: "",
    stderr: "No thread without a session. --sessions includes the threads of sessions.\n",
  });
  const { session_id } = await home.json<{ session_id: string }>(["-p", "Hello", "--json"]);
  await withThreads(home, "one", HOSTILE, "42");
  const listed = await home.call(["threads", "list"]);
  expect(listed.stdout).toBe(
    `ACTIVE    MESSAGES  THREAD\njust now  3         42\njust now  3         ${SHOWN}\njust now  3         one\n`,
  );
  expect(await idsOf(home)).toEqual(["42", HOSTILE, "one"]);
  const limited = await home.call(["threads", "list", "--limit", "1"]);
  expect(limited.stderr).toBe("There are more; --limit all shows every one.\n");
  const all = await home.json(["threads", "list", "--sessions", "--limit", "all", "--json"]);
  expect(all).toMatchObject([{}, {}, {}, { thread_id: `${session_id}:0`, session_id }]);
});

it("[THREAD-13] shows a thread's size, state and last messages, without what a terminal obeys", async () => {
  const home = freshHome();
  await withThreads(home, HOSTILE);
  const { stdout } = await home.call(["threads", "show", HOSTILE]);
  expect(stdout.split("\n").slice(0, 6)).toEqual([
    SHOWN,
    "  session      none",
    "  state        idle",
    "  messages     3",
    "  branches     1",
    expect.stringMatching(/^ {2}checkpoints {2}2, \d+ bytes$/),
  ]);
  expect(stdout.slice(stdout.indexOf("\n\n"))).toBe(
    '\n\nuser\nquestion␛[2J\n\nassistant\n· look␛[2J {"at":1}\n\nassistant\nanswer\n',
  );
  const shown = await home.json(["threads", "show", HOSTILE, "--last", "1", "--json"]);
  expect(shown).toMatchObject({
    thread_id: HOSTILE,
    messages: 3,
    interrupted: false,
    last_messages: [{ message_id: "b", role: "assistant", content: "answer", tool_calls: null }],
  });
  expect(await home.call(["threads", "show", "missing"])).toMatchObject({
    code: 3,
    stderr:
      "reprise: No thread has this id; list the threads to see their ids. [thread_not_found]\n",
  });
});

it("[THREAD-14] deletes a thread after a yes, and never one of a session", async () => {
  const home = freshHome();
  const { session_id } = await home.json<{ session_id: string }>(["-p", "Hello", "--json"]);
  await withThreads(home, "one", HOSTILE);
  const asked = await home.call(["threads", "delete", HOSTILE]);
  expect(asked).toMatchObject({ code: 2, stdout: "" });
  expect(asked.stderr).toMatch(
    /^This deletes for good:\n {2}.*thread␊READY {2}yes<U\+2028> --yes {2}\(3 messages, 2 checkpoints, \d+ bytes\)\nreprise: Nothing was deleted, because/,
  );
  const deleted = await home.call(["threads", "delete", HOSTILE, "--yes"]);
  expect(deleted.stdout).toContain(`Deleted 1 thread:\n  ${SHOWN}  (3 messages`);
  expect(await idsOf(home)).toEqual(["one"]);
  for (const command of ["delete", "prune"]) {
    const refused = await home.call(["threads", command, `${session_id}:0`, "--yes"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("reprise sessions delete");
    const missing = await home.call(["threads", command, "missing", "--yes"]);
    expect(missing).toMatchObject({ code: 3, stdout: "" });
  }
  const exported = await home.call(["threads", "export", `${session_id}:0`]);
  expect(exported.stderr).toContain("`reprise sessions export`");
  expect(await home.call(["sessions", "verify"])).toMatchObject({ code: 0 });
});

it("[THREAD-15] deletes old threads with --older-than, and only shows them with --dry-run", async () => {
  const home = freshHome();
  await withThreads(home, "old", "older", "young");
  {
    await using store = await openSqliteStore({ path: home.database });
    const old = "UPDATE checkpoints SET ts = '2020-01-01T00:00:00.000Z' WHERE thread < 3";
    await execute(store, old);
  }
  const command = ["threads", "delete", "--older-than", "1h"];
  const would = await home.call([...command, "--dry-run"]);
  expect(would.stdout).toMatch(/^Would delete 2 threads:\n {2}old .*\n {2}older .*\n$/);
  expect(await idsOf(home)).toHaveLength(3);
  expect(await home.json([...command, "--yes", "--json"])).toMatchObject([
    { thread_id: "old" },
    { thread_id: "older" },
  ]);
  expect(await idsOf(home)).toEqual(["young"]);
  expect((await home.call([...command, "--yes"])).stderr).toBe(
    "No thread without a session is that old. --interrupted includes interrupted ones.\n",
  );
  for (const wrong of [[], ["id", "--older-than", "1h"], ["id", "--interrupted"]]) {
    expect(await home.call(["threads", "delete", ...wrong])).toMatchObject({ code: 2 });
  }
});

it("[THREAD-18] deletes no thread that got old during the question, nor one that was used", async () => {
  const home = freshHome();
  await withThreads(home, "old", "used", "late");
  await using store = await openSqliteStore({ path: home.database });
  const age = (ts: string, thread: number) =>
    execute(store, `UPDATE checkpoints SET ts = ? WHERE thread = ${thread}`, ts);
  const [old, now] = ["2020-01-01T00:00:00.000Z", new Date().toISOString()];
  await age(old, 1);
  await age(old, 2);
  const terminal = openTerminal(home, "reprise threads delete --older-than 1h");
  await terminal.shows(/Delete 2 threads\? \[y\/N\] $/);
  await age(now, 2);
  await age(old, 3);
  terminal.type("y\r");
  const { screen } = await terminal.finished;
  expect(screen).toMatch(/Deleted 1 thread:\n {2}old /);
  expect(await idsOf(home)).toEqual(["late", "used"]);
});

it("[THREAD-19] deletes old threads around a damaged one, and that one by its id", async () => {
  const home = freshHome();
  await withThreads(home, "one", "damaged", "two", "other");
  {
    await using store = await openSqliteStore({ path: home.database });
    await execute(store, "UPDATE checkpoints SET channels = '{' WHERE thread IN (2, 4)");
    await execute(store, "UPDATE checkpoints SET ts = '2020-01-01T00:00:00.000Z'");
  }
  const command = ["threads", "delete", "--older-than", "1h", "--yes"];
  const advice = "It is damaged. Restore a backup, or delete it by its id. [database_corrupt]";
  const kept = `Not deleted: damaged  ${advice}\nNot deleted: other  ${advice}\n`;
  const deleted = await home.call(command);
  expect(deleted).toMatchObject({ code: 1, stderr: kept });
  expect(deleted.stdout).toMatch(/^Deleted 2 threads:\n {2}one .*\n {2}two .*\n$/);
  expect(await home.call(command)).toMatchObject({ code: 1, stdout: "", stderr: kept });
  expect(await home.call(["threads", "delete", "damaged", "--yes"])).toMatchObject({
    code: 0,
    stdout: "Deleted 1 thread:\n  damaged  (damaged)\n",
  });
  expect(await home.json([...command, "--interrupted", "--json"])).toEqual([
    { thread_id: "other", damaged: true },
  ]);
});

it("[THREAD-16] prunes a thread after a yes, and only shows what goes with --dry-run", async () => {
  const home = freshHome();
  await withThreads(home, "one");
  const nothing = { code: 0, stdout: "", stderr: "Nothing to prune: every checkpoint is kept.\n" };
  expect(await home.call(["threads", "prune", "one", "--keep", "2"])).toMatchObject(nothing);
  const would = await home.call(["threads", "prune", "one", "--dry-run"]);
  expect(would.stdout).toMatch(/^Would delete: 1 checkpoint with \d+ bytes of one\n$/);
  expect((await home.call(["threads", "prune", "one"])).stderr).toMatch(
    /^This deletes for good:\n {2}1 checkpoint with \d+ bytes of one\nreprise: Nothing was deleted/,
  );
  expect(await home.json(["threads", "prune", "one", "--yes", "--json"])).toMatchObject({
    thread_id: "one",
    checkpoints: 1,
  });
  expect(await home.json(["threads", "show", "one", "--json"])).toMatchObject({
    checkpoints: 1,
    messages: 3,
  });
});

it("[MOVE-32] [MOVE-33] exports a thread and imports it elsewhere, the same to the last byte", async () => {
  const [home, other] = [freshHome(), freshHome()];
  await withThreads(home, HOSTILE);
  const exported = await home.call(["threads", "export", HOSTILE]);
  expect(exported).toMatchObject({ code: 0, stderr: "" });
  const input = exported.stdout;
  const imported = await other.call(["threads", "import", "-"], { input });
  expect(imported).toMatchObject({ code: 0, stdout: `Imported: ${SHOWN}  2 checkpoints\n` });
  const again = await other.call(["threads", "export", HOSTILE]);
  const withoutTime = (text: string) => text.replace(/"exported_at":"[^"]*"/, "");
  expect(withoutTime(again.stdout)).toBe(withoutTime(input));
  const copied = await other.json(["threads", "import", "-", "--as", "2nd", "--json"], { input });
  expect(copied).toEqual({ thread_id: "2nd" });
  const shown = { messages: 3, checkpoints: 2, interrupted: false };
  expect(await other.json(["threads", "show", "2nd", "--json"])).toMatchObject(shown);
  await using store = await openSqliteStore({ path: other.database });
  const { id } = await store.write(createSession, {});
  for (const [args, code] of [
    [[], "thread_exists"],
    [["--as", `${id}:0`], "thread_of_session"],
    [["--as", ""], "invalid_usage"],
    [["--as", "x".repeat(256)], "invalid_usage"],
  ] as const) {
    const refused = await other.call(["threads", "import", "-", ...args], { input });
    expect(refused.stderr).toMatch(new RegExp(`\\[${code}\\]\\n$`));
  }
  const ofSession = await home.call(["threads", "export", "missing"]);
  expect(ofSession).toMatchObject({ code: 3, stdout: "" });
});

it("[MOVE-34] refuses an export of a thread that was changed, cut off or is of a session", async () => {
  const home = freshHome();
  await withThreads(home, "one");
  const { stdout } = await home.call(["threads", "export", "one"]);
  const { session_id } = await home.json<{ session_id: string }>(["-p", "Hello", "--json"]);
  const session = await home.call(["sessions", "export", session_id]);
  for (const [input, code] of [
    [stdout.replace("answer", "ANSWER"), "export_invalid"],
    [stdout.replace('"thread_id":"one"', '"thread_id":"two"'), "export_invalid"],
    [stdout.replace('"lists":', '"more":1,"lists":'), "export_invalid"],
    [stdout.slice(0, -20), "malformed_json"],
    [session.stdout, "export_invalid"],
  ] as const) {
    const refused = await home.call(["threads", "import", "-", "--as", "new"], { input });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`[${code}]`);
  }
  const other = await home.call(["sessions", "import", "-"], { input: stdout });
  expect(other.stderr).toContain("[export_invalid]");
  const refused = await home.call(["threads", "export", `${session_id}:0`]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(await idsOf(home)).toEqual(["one"]);
});

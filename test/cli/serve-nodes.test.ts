import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Value } from "typebox/value";
import { expect, it } from "vitest";

import { ExchangeEvent } from "../../src/exchange/events.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { detailOf, rowsOf, seed } from "../helpers/sessions/seed.ts";
import { askIn } from "../helpers/waiting-session.ts";
import { homeOfNodes, startNode } from "../helpers/service-node.ts";
import { openTerminal } from "../helpers/terminal.ts";

function homeWithFolders() {
  const home = homeOfNodes();
  const folder = (name: string): string => join(home.project, name);
  mkdirSync(folder("one/below"), { recursive: true });
  mkdirSync(folder("it's two"));
  symlinkSync(folder("one"), folder("link"));
  return { home, folder };
}

it("[CLI-174] [CLI-175] [CLI-178] [QUESTION-41] a node runs the sessions of its folders, and names what starts a node for others", async () => {
  const { home, folder } = homeWithFolders();
  const [asking] = await seed(home, {});
  await using store = await openSqliteStore({ path: home.database });
  await askIn(store, asking?.id ?? "", { choices: ["yes", "no"], due: "2" });
  const front = await startNode(home, ["--jobs", "0"]);
  const create = async (repo_path: string | null) =>
    (await front.client.createSession({ repo_path })).id;
  await expect.poll(() => front.client.listQuestions(asking?.id ?? "")).toEqual([]);
  const plain = await create(null);
  const below = await create(folder("one/below"));
  const two = await create(folder("it's two"));
  expect(await front.post(plain, "hi")).toMatchObject({
    state: "queued",
    runnable: false,
    command: "reprise serve --port 0",
  });
  expect(await front.post(two, "hi")).toMatchObject({ runnable: false });

  const one = await startNode(home, ["--repos", folder("link")]);
  expect(await front.post(below, "hi")).toMatchObject({ runnable: true, command: null });
  expect(await front.ended(plain)).toBe("done");
  expect(await front.ended(below)).toBe("done");
  const { runnable, command } = await one.post(two, "once more");
  expect(runnable).toBe(false);
  expect(await one.service.stop("SIGTERM")).toMatchObject({ code: 0 });
  expect((await front.post(plain, "hi")).runnable).toBe(false);

  const named = home.startShell(`exec ${command}`);
  expect(await front.ended(two)).toBe("done");
  expect((await front.client.getExchange(plain, 2)).n).toBe(2);
  await named.stop("SIGTERM");
});

it("[HTTP-250] creating a session and queuing in it say at once that its folder is missing, or that nobody works in it", async () => {
  const { home, folder } = homeWithFolders();
  const node = await startNode(home, ["--repos", folder("one")]);
  const front = await startNode(home, ["--jobs", "0"]);
  const warned = async (by: typeof node, repo_path: string | null) => {
    const codes: string[] = [];
    const { id } = await by.client.createSession(
      { repo_path },
      { onWarning: (code) => void codes.push(code) },
    );
    const queued = await by.queue(id);
    expect(queued.status).toBe(202);
    const header = queued.headers.get("reprise-warning");
    expect(codes).toEqual(header === null ? [] : [header]);
    return header;
  };
  expect(await warned(node, null)).toBe(null);
  expect(await warned(node, folder("one/below"))).toBe(null);
  expect(await warned(node, folder("one/mistyped"))).toBe("folder_missing");
  expect(await warned(node, "/nowhere/at-all")).toBe("folder_missing");
  expect(await warned(node, folder("it's two"))).toBe("folder_not_served");
  // it runs nothing itself: the folder may be on the machine of the node
  expect(await warned(front, folder("one/mistyped"))).toBe(null);
  expect(await warned(front, folder("it's two"))).toBe("folder_not_served");
  expect(await warned(front, "/nowhere/at-all")).toBe("folder_not_served");
});

it("[CLI-311] send, -p and the greeting say that the folder of the session does not exist", async () => {
  const { home, folder } = homeWithFolders();
  const gone = folder("gone");
  const [session] = await seed(home, { repo_path: gone });
  const id = session?.id ?? "";
  const sent = await home.call(["send", id, "hi"]);
  expect(sent).toMatchObject({ code: 0 });
  expect(sent.stderr).toContain(
    `note: The folder of this session does not exist on this machine, where its exchanges would fail: ${gone}\n`,
  );
  const once = await home.call(["--session", id, "-p", "hi"]);
  expect(once.stderr).toContain(
    `note: This session works in ${gone}, which does not exist on this machine.\n`,
  );
  const terminal = openTerminal(home, `exec reprise --session ${id}`);
  await terminal.shows(/^Folder \S+\/gone, which does not exist on this machine$[^]*> $/m);
});

it.each(["missing", "a file"])(
  "[CLI-312] -p in a session whose folder is %s fails and stores the message, which is answered once the folder is back",
  async (kind) => {
    const home = homeOfNodes();
    const repo_path = join(home.project, "gone");
    const [session] = await seed(home, { repo_path });
    const id = session?.id ?? "";
    if (kind === "a file") {
      writeFileSync(repo_path, "");
    }
    const failed = await home.call(["--session", id, "-p", "careful words"]);
    expect(failed).toMatchObject({ code: 2, stdout: "" });
    expect(failed.stderr).toContain("[folder_missing]");
    const shown = await home.call(["sessions", "show", id]);
    expect(shown.stdout).toMatch(/^ {2}exchange {2}1 failed, .*\[folder_missing\]$/m);
    expect(shown.stdout).toContain("\ncareful words\n");
    rmSync(repo_path, { force: true });
    mkdirSync(repo_path);
    const answered = await home.call(["--session", id, "--continue-exchange"]);
    expect(answered).toMatchObject({ code: 0 });
    expect(rowsOf(await detailOf(home, id)).map(([, role]) => role)).toEqual(["user", "assistant"]);
  },
);

it("[CLI-176] refuses folders that do not exist or contradict each other, before it listens", async () => {
  const { home, folder } = homeWithFolders();
  for (const [args, sentence] of [
    [["--repos", folder("three")], "A folder of --repos does not exist"],
    [["--repos", "none", folder("one")], "not both"],
    [["--jobs", "0", "--repos", "none"], "runs no exchanges"],
    [["--jobs", "0", "--answer-after", "1h=deny"], "runs no exchanges"],
    [["--repos", ""], "A folder of --repos is empty"],
  ] as const) {
    const { code, stdout, stderr } = await home.call(["serve", "--port", "0", ...args]);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(sentence);
  }
});

it("[CLI-178] [CLI-179] [CLI-193] send names the command that starts a service, and --follow waits for it", async () => {
  const { home, folder } = homeWithFolders();
  const { session_id: id } = await home.json<{ session_id: string }>([
    "--repo",
    folder("it's two"),
    "-p",
    "hi",
    "--json",
  ]);
  const command = `reprise serve --repos '${folder("it's two").replace("'", "'\\''")}'`;
  const line = `No running service answers this session. Start one with: ${command}\n`;
  const sent = await home.call(["send", id, "one"]);
  expect(sent).toMatchObject({ code: 0, stderr: line });
  expect(await home.json(["send", id, "two", "--json"])).toMatchObject({
    state: "queued",
    runnable: false,
    command,
  });
  const following = home.start(["send", id, "three", "--follow"]);
  while (following.stderr() === "") {
    await sleep(20);
  }
  const service = home.startShell(`exec ${command} --port 0`);
  const { code, stdout, stderr } = await following.finished;
  expect(stderr).toBe(line);
  expect(code).toBe(0);
  expect(stdout).toContain("The one before this was: “two”");
  const reported = await home.call(["send", id, "four", "--follow", "--json=events"]);
  expect(reported).toMatchObject({ code: 0, stderr: "" });
  const lines = reported.stdout.trimEnd().split("\n");
  const events = lines.map((event) => Value.Parse(ExchangeEvent, JSON.parse(event)));
  expect(events.map(({ type }) => type)).toEqual(["started", "message", "text", "message", "done"]);
  const [started, asked, text, answer, done] = events;
  expect(new Set(events.map(({ exchange_id }) => exchange_id)).size).toBe(1);
  expect(started).toMatchObject({ session_id: id, model: "demo", thread_id: `${id}:0` });
  expect([asked, answer]).toMatchObject([{ role: "user" }, { role: "assistant" }]);
  expect(text).toMatchObject({ text: expect.stringContaining("“three”") as string });
  expect(done).toMatchObject({ message_id: (text as { message_id: string }).message_id });
  expect(await home.call(["send", id, "five", "--json=events"])).toMatchObject({ code: 2 });
  expect(await service.stop("SIGTERM")).toMatchObject({ code: 0 });
});

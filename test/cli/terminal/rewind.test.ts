import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { setImmediate } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { type SentMessage, startModelServer } from "../../helpers/model-server.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";
import { openScreen, type TestScreen } from "../../helpers/screen.ts";
import { detailOf, rowsOf, sessionsOf } from "../../helpers/sessions/seed.ts";
import { startScriptedProvider, text } from "../../helpers/scripted-provider.ts";
import { CTRL_C, CTRL_D, openTerminal } from "../../helpers/terminal.ts";

const ESC = "\u001b";

/** An agent that writes each message `name text` into the file of that name; `talk` alone changes nothing. */
async function writing(): Promise<Home & { readonly file: (path: string) => string | null }> {
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) => {
      const at = messages.findLastIndex(({ role }) => role === "user");
      const [path = "", content] = (messages[at]?.content ?? "").split(" ");
      const answers = messages.slice(at).filter(({ role }) => role === "assistant").length;
      const call = (name: string, args: object) => ({ name, arguments: JSON.stringify(args) });
      if (content === undefined || answers === 2) {
        return { content: `done ${path}` };
      }
      return {
        toolCalls: [
          answers === 0
            ? call("read_file", { path })
            : call("write_file", { path, content: `${content}\n` }),
        ],
      };
    },
  });
  const env = { ...server.env("openai"), REPRISE_MODEL: "openai:test", NO_COLOR: "1" };
  const home = freshHome(env);
  const file = (path: string): string | null => {
    const at = join(home.project, path);
    return existsSync(at) ? readFileSync(at, "utf8") : null;
  };
  return { ...home, file };
}

async function talk(screen: TestScreen, ...messages: readonly string[]): Promise<void> {
  for (const message of messages) {
    const [path = ""] = message.split(" ");
    screen.type(`${message}\r`);
    await screen.until(
      new RegExp(`^> ${message}$[^]*^done ${path}$[^]*^>$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])`, "m"),
    );
  }
}

it("[TERM-171] /fork continues in a fork, names both and the way back, and is in plain lines too", async () => {
  const home = await writing();
  const screen = openScreen(home, "reprise --permission edits");
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("/fork\r");
  await screen.until(/there is nothing to fork/);
  await talk(screen, "one", "two");
  screen.type("/fork 3\r");
  const shown = await screen.until(/goes back to it\.$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("three\r");
  await screen.until(/^done three$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type(CTRL_D);
  expect(await screen.finished).toBe(0);
  const [fork, origin] = await sessionsOf(home);
  const [from, to] = [origin?.id.slice(0, 8) ?? "", fork?.id.slice(0, 8) ?? ""];
  expect(shown.replaceAll(/\s+/g, " ")).toContain(
    `This is a fork now: ${to}. It begins after message 2 of ${from}, at the end of an exchange before 3, and leaves 2 messages out. ${from} keeps all its messages; \`reprise resume ${from}\` goes back to it.`,
  );
  expect(rowsOf(await detailOf(home, fork?.id ?? "")).map(([, , content]) => content)).toEqual([
    "one",
    "done one",
    "three",
    "done three",
  ]);
  const piped = await home.run(["--session", origin?.id ?? ""], { input: "/fork\nfour\n" });
  expect(piped.stderr).toMatch(/This is a fork now: \w{8}\. It begins after message 4 of /);
  expect((await detailOf(home, origin?.id ?? "")).last_seq).toBe(4);
});

it("[TERM-172] [TERM-173] Esc twice goes back to before a message: its files are undone, and a fork has its text at the prompt", async () => {
  const home = await writing();
  writeFileSync(join(home.project, "a"), "zero\n");
  const screen = openScreen(home, "reprise --permission edits");
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  await talk(screen, "talk", "a one", "a two", "b three");
  writeFileSync(join(home.project, "b"), "mine\n");
  screen.type(ESC);
  await screen.until(/^Press Esc again to go back to a message\.$/m);
  screen.type("x");
  await screen.until((rows) => !rows.includes("Press Esc"));
  // something is written: Esc means nothing
  screen.type(ESC);
  screen.type(ESC);
  screen.type(CTRL_C);
  await screen.until(/^>$/m);
  screen.type(`${ESC}${ESC}`);
  await screen.until(/Go back to before a message +1 of 4\n> *\d+ {2}b three/);
  screen.type(`${ESC}[B${ESC}[B`);
  await screen.until(/> *3 {2}a one/);
  screen.type("\r");
  const asked = await screen.until(/^n {2}neither/m);
  expect(asked).toMatch(/^3 exchanges from there on changed files; 1 change cannot be undone\.$/m);
  expect(asked).toMatch(
    /^exchange 4\nrefused b: it was changed since[^]*^exchange 3\nwould undo a$[^]*^exchange 2\nwould undo a$/m,
  );
  screen.resize(40, 15);
  const narrow = await screen.until(
    /^b {2}both: undo these changes of files,$\n^and continue in a fork$/m,
  );
  expect(narrow).toMatch(/^n {2}neither \(Esc\)$/m);
  screen.resize(80, 24);
  await screen.until(/^b {2}both: undo these changes of files, and continue in a fork$/m);
  screen.type("b");
  await screen.until(/^> a one$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  expect(home.file("a")).toBe("zero\n");
  expect(home.file("b")).toBe("mine\n");
  screen.type(CTRL_C);
  await talk(screen, "five");
  screen.type(CTRL_D);
  expect(await screen.finished).toBe(0);
  const [fork, origin] = await sessionsOf(home);
  expect(rowsOf(await detailOf(home, fork?.id ?? "")).map(([, , content]) => content)).toEqual([
    "talk",
    "done talk",
    "five",
    "done five",
  ]);
  expect(origin?.last_seq).toBe(20);
  // each part alone, in plain lines of a terminal
  const plain = openTerminal(home, `reprise --plain --session ${origin?.id}`);
  await plain.shows(/> $/);
  plain.type("/rewind\r");
  await plain.shows(/^15 [^]*^ *3 +\S.* {2}a one[^]*Go back to before which message\? $/m);
  plain.type("3\r");
  await plain.shows(/neither: $/);
  plain.type("\r");
  await plain.shows(/Nothing was changed\.[^]*> $/);
  plain.type("a six\r");
  await plain.shows(/done a\s[^]*> $/);
  expect(home.file("a")).toBe("six\n");
  plain.type("/rewind 21\r");
  await plain.shows(/neither: $/);
  plain.type("f\r");
  await plain.shows(/undone[^]*> $/);
  expect(home.file("a")).toBe("zero\n");
  expect(await sessionsOf(home)).toHaveLength(2);
  plain.type("/rewind 3\r");
  await plain.shows(/neither: $/);
  plain.type("c\r");
  await plain.shows(/This is a fork now[^]*> a one$/);
  plain.type(CTRL_D);
  expect(await sessionsOf(home)).toHaveLength(3);
});

it("[TERM-174] a process that is killed while it goes back leaves whole files and sessions, and the same can be done again", async () => {
  const home = await writing();
  writeFileSync(join(home.project, "a"), "zero\n");
  const made = await home.run(["--permission", "edits"], { input: "talk\na one\na two\n" });
  expect(made.code).toBe(0);
  const [{ id } = { id: "" }] = await sessionsOf(home);
  const before = rowsOf(await detailOf(home, id));
  const running = home.start(["--session", id], { input: "/rewind 3\n" });
  while (home.file("a") !== "zero\n") {
    await setImmediate();
  }
  await running.stop("SIGKILL");
  expect(rowsOf(await detailOf(home, id))).toEqual(before);
  const again = await home.run(["--session", id], { input: "/rewind 3\n" });
  expect(again).toMatchObject({ code: 0 });
  expect(again.stderr).toMatch(/undone already|unchanged a|Nothing to undo/);
  expect(again.stderr).toMatch(/This is a fork now: \w{8}\. It begins after message 2 of /);
  expect(home.file("a")).toBe("zero\n");
  const sessions = await sessionsOf(home);
  expect(sessions.filter(({ last_seq }) => last_seq === 2).length).toBe(sessions.length - 1);
  expect(await home.run(["sessions", "verify"])).toMatchObject({ code: 0 });
});

it("[TERM-173] Esc twice in a moment stops what runs, and opens nothing", async () => {
  const provider = await startScriptedProvider("openai", () => [text("w0 w1 "), { kind: "stall" }]);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const screen = openScreen(freshHome(provider.env), "reprise");
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("one\r");
  await screen.until(/^> one$[^]*^w0 w1[^]*^[a-z]+ ⇧⇥ · working · /m);
  screen.type(`${ESC}${ESC}`);
  await screen.until(/^> one$[^]*^Stopped[^]*^>$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  // the terminal may take the second one for the beginning of Alt-x
  screen.type("xyz");
  await screen.until(/^> x?yz$/m);
  expect(screen.isAlternate()).toBe(false);
});

it("[FORK-28] a process that is killed between the undo and the fork of /rewind leaves the files undone and no fork, and both is shown", async () => {
  const home = await writing();
  const preload = join(home.home, "kill.mjs");
  writeFileSync(
    preload,
    `import { StatementSync } from "node:sqlite";
    for (const method of ["all", "get", "run"]) {
      const original = StatementSync.prototype[method];
      StatementSync.prototype[method] = function (...values) {
        if (/insert into "sessions".* from "sessions"/is.test(this.sourceSQL)) {
          process.kill(process.pid, "SIGKILL");
        }
        return original.apply(this, values);
      };
    }`,
  );
  const screen = openScreen(home, `NODE_OPTIONS=--import=${preload} reprise --permission edits`);
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  await talk(screen, "talk", "a one", "b two");
  screen.type("/rewind 3\r");
  await screen.until(/^b {2}both/m);
  screen.type("b");
  await screen.finished;
  expect([home.file("a"), home.file("b")]).toEqual([null, null]);
  const [origin, ...others] = await sessionsOf(home);
  expect(others).toEqual([]);
  expect((await home.call(["sessions", "verify"])).code).toBe(0);
  const id = origin?.id ?? "";
  expect((await home.call(["sessions", "changes", id])).stdout).toMatch(/undone[^]*undone/);
  const again = openScreen(home, "reprise --continue --permission edits");
  await again.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  again.type("/rewind 3\r");
  const shown = await again.until(/This is a fork now[^]*^> a one$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  expect(shown.replaceAll(/\s+/g, " ")).toContain(
    "Some changes of files from there on had been undone already.",
  );
  again.type(`${CTRL_C}${CTRL_D}`);
  await again.finished;
  expect(await sessionsOf(home)).toHaveLength(2);
});

import { lstat, readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { copyAnswer } from "../../src/cli/chat/slash/copy-answer.ts";
import type { Output } from "../../src/cli/process/output.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { idLike } from "../helpers/sessions/seed.ts";

const ID = idLike("abcdef1");

async function answered(answer: string): Promise<Home> {
  const server = await startModelServer({ answer: () => ({ content: answer }) });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  expect((await home.call(["--session", ID, "-p", "hi"])).code).toBe(0);
  return home;
}

/** What the terminal gets, and the sentence. */
async function copied(home: Home, env: Readonly<Record<string, string>> = {}) {
  const store = await openStoreAt(home.database);
  onTestFinished(() => store[Symbol.asyncDispose]());
  let sent = "";
  const stdout = { terminal: () => ({ draw: (text: string) => void (sent += text) }) } as Output;
  const sentence = await copyAnswer({ stdout, env }, store, ID);
  const begin = "\u001b]52;c;";
  expect(sent.startsWith(begin) || sent === "").toBe(true);
  const base64 = sent.slice(begin.length, Math.max(0, sent.indexOf("\u0007")));
  return { sentence, sent, text: Buffer.from(base64, "base64").toString() };
}

it("[TERM-48] /copy gives the last answer to the clipboard, as it can be pasted", async () => {
  const home = await answered("# Café\u001b[201~\n`rm -rf`");
  const { text, sentence } = await copied(home);
  expect(text).toBe("# Café␛[201~\n`rm -rf`");
  expect(sentence).toMatch(/^Copied: 24 bytes/);
  const tmux = await copied(home, { TMUX: "/tmp/tmux-0/default,1,0" });
  const plain = tmux.sent.slice(0, tmux.sent.indexOf("\u0007") + 1);
  expect(tmux.sent).toBe(`${plain}\u001bPtmux;\u001b${plain}\u001b\\`);
  expect((await copied(home, { TERM: "dumb" })).sent).toBe("");
  const { stderr } = await home.call(["--session", ID], { input: "/copy\n" });
  expect(stderr).toMatch(/^Only a terminal has a clipboard; \/export writes/m);
  expect((await home.call([], { input: "/copy\n" })).stderr).toMatch(/^There is no answer/m);
});

it("[TERM-48] /copy refuses what terminals would drop", async () => {
  const { sent, sentence } = await copied(await answered("x".repeat(74_995)));
  expect(sent).toBe("");
  expect(sentence).toBe(
    "The answer has 74995 bytes, and terminals take 74994; /export writes the session to a file.",
  );
});

it("[TERM-49] /export writes a new file for its user alone", async () => {
  const home = await answered("the answer");
  const exported = async (file: string) => {
    const { stderr } = await home.call(["--session", ID], { input: `/export ${file}\n` });
    return stderr;
  };
  expect(await exported("a b.md")).toContain(`Exported: ${join(home.project, "a b.md")}\n`);
  const whole = await home.call(["sessions", "export", ID, "--format", "md"]);
  expect(await readFile(join(home.project, "a b.md"), "utf8")).toBe(whole.stdout);
  expect(((await lstat(join(home.project, "a b.md"))).mode & 0o777).toString(8)).toBe("600");
  expect(await exported("a b.md")).toMatch(/a b\.md is there already; name another file\./);
  await symlink(join(home.project, "target"), join(home.project, "link"));
  expect(await exported("link")).toMatch(/is there already/);
  expect(await exported("missing/a.md")).toMatch(/cannot be written \(ENOENT\)\./);
  expect(await exported("")).toContain(join(home.project, `reprise-${ID.slice(0, 8)}.md`));
  expect(await exported("~/home.md")).toContain(join(home.home, "home.md"));
  expect((await readdir(home.project)).sort((a, b) => (a < b ? -1 : 1))).toEqual([
    "a b.md",
    "link",
    `reprise-${ID.slice(0, 8)}.md`,
  ]);
  const { stderr } = await home.call([], { input: "/export\n" });
  expect(stderr).toMatch(/nothing to export/);
});

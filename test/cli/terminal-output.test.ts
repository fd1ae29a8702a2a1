import { describe, expect, it } from "vitest";

import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { openTerminal } from "../helpers/terminal.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";

const HOSTILE = "a\u001b[2Jb\u009bc\u202ed\u007fe";
const VISIBLE = "a␛[2Jb<U+009B>c<U+202E>d␡e";
// oxlint-disable-next-line no-control-regex -- these are what must not get through
const OBEYED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e]/;

describe("what a terminal shows", () => {
  it("[SCREEN-1] an answer and a tool call's name with their controls escaped", async () => {
    const server = await startModelServer({
      answer: (_, index) =>
        index === 0
          ? { toolCalls: [{ name: HOSTILE, arguments: JSON.stringify({ [HOSTILE]: HOSTILE }) }] }
          : { content: HOSTILE },
    });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
    const terminal = openTerminal(home, "reprise -p hello");
    await terminal.finished;
    expect(terminal.written()).toContain(`· ${VISIBLE} {`);
    expect(terminal.written()).toContain(`\n${VISIBLE}`);
    expect(terminal.written()).not.toMatch(OBEYED);
  });

  it("[SCREEN-2] [SCREEN-3] JSON with the same value, and unchanged in a pipe", async () => {
    const home = freshHome();
    await seed(home, { id: idLike("abcdef1"), messages: [HOSTILE] });
    for (const command of [
      "sessions list --json",
      "sessions show abcdef --json",
      "sessions export abcdef",
    ]) {
      const terminal = openTerminal(home, `reprise ${command}`);
      expect(await terminal.finished).toMatchObject({ code: 0 });
      const piped = await home.run(command.split(" "));
      expect(terminal.written()).not.toMatch(OBEYED);
      expect(piped.stdout).toContain(JSON.stringify(HOSTILE));
      const withoutTime = (text: string): unknown => ({
        ...(JSON.parse(text) as object),
        exported_at: null,
      });
      expect(withoutTime(terminal.written())).toEqual(withoutTime(piped.stdout));
    }
  });

  it("[SCREEN-3] [EVENT-8] lines of JSON in a pipe end at line feeds only", async () => {
    const content = "one\u0085two\u2028three\u2029four";
    const server = await startModelServer({ answer: () => ({ content }) });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
    const id = idLike("abcdef1");
    await seed(home, { id });
    for (const args of [
      ["--session", id, "-p", "hello", "--json=events"],
      ["--session", id, "-p", "hello", "--json"],
      ["sessions", "show", id, "--json"],
      ["sessions", "export", id],
    ]) {
      const { stdout } = await home.run(args);
      expect(stdout).not.toMatch(/[\u0085\u2028\u2029]/);
      expect(stdout).toMatch(/\\u0085[^]*\\u2028[^]*\\u2029/);
    }
    const { stdout } = await home.run(["sessions", "show", id, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ messages: { 1: { content } } });
  });

  it("[SCREEN-4] a Markdown export with controls escaped, in a file too", async () => {
    const home = freshHome();
    await seed(home, { id: idLike("abcdef1"), messages: [HOSTILE] });
    const { stdout } = await home.call(["sessions", "export", "abcdef", "--format", "md"]);
    expect(stdout).toContain(`\n${VISIBLE}\n`);
    expect(stdout).not.toMatch(OBEYED);
  });
});

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { type ModelServer, startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { CTRL_C, CTRL_D, openTerminal } from "../helpers/terminal.ts";
import { detailOf, idLike, seed } from "../helpers/sessions/seed.ts";

const ID = idLike("abcdef1");
const PASTES_MARKED = "\u001b[?2004h";
const PASTES_PLAIN = "\u001b[?2004l";

const paste = (text: string): string => `\u001b[200~${text.replaceAll("\n", "\r")}\u001b[201~`;

/** A session of one message whose model repeats how long the message was. */
async function session(): Promise<{ home: Home; server: ModelServer }> {
  const server = await startModelServer({
    answer: (messages) => ({ content: `got ${messages.at(-1)?.content.length}` }),
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  await seed(home, { id: ID });
  return { home, server };
}

const sent = (server: ModelServer): (string | undefined)[] =>
  server.requests().map((messages) => messages.at(-1)?.content);

describe("a paste in a terminal", () => {
  it("[CLI-70] [CLI-71] is one message, shown before Enter sends it, and no line of it is a command", async () => {
    const { home, server } = await session();
    const terminal = openTerminal(home, `reprise --session ${ID}`);
    await terminal.shows(/> $/);
    terminal.type(`look: ${paste("at this\n/usr/bin/env\n/end\nrm -rf \u009bbuild")}`);
    await terminal.shows(/^look: at this\n\/usr\/bin\/env\n\/end\nrm -rf <U\+009B>build\n… $/);
    expect(sent(server)).toEqual([]);
    terminal.type("\r");
    await terminal.shows(/got \d+\n> $/);
    terminal.type(`${paste("/end")}\r`);
    await terminal.shows(/^\/end\ngot 4\n> $/);
    // a command that was typed may have its argument pasted
    terminal.type(`/model ${paste("openai:other")}\r`);
    await terminal.shows(/the messages are kept\.\n> $/);
    terminal.type(CTRL_D);
    expect(await terminal.finished).toMatchObject({ code: 0 });
    expect(sent(server)).toEqual(["look: at this\n/usr/bin/env\n/end\nrm -rf \u009bbuild", "/end"]);
    expect(await detailOf(home, ID)).toMatchObject({ state: "active" });
  });

  it("[CLI-71] without an end mark is never sent, neither by Ctrl-D nor by closing the window", async () => {
    const { home, server } = await session();
    for (const leave of ["key", "hang up"]) {
      const terminal = openTerminal(home, `exec reprise --session ${ID}`);
      await terminal.shows(/> $/);
      terminal.type("\u001b[200~one\r/end\rtwo\r");
      // nothing on the screen says when it was read, so the key is typed until it is heard
      const typing = setInterval(() => {
        if (leave === "key") {
          terminal.type(CTRL_D);
        } else {
          terminal.kill("SIGHUP");
        }
      }, 50);
      await terminal.finished;
      clearInterval(typing);
    }
    expect(sent(server)).toEqual([]);
    expect(await detailOf(home, ID)).toMatchObject({ state: "active", last_seq: 0 });
  });

  it("[CLI-71] [CLI-102] with an end mark in it stays text; without one is reported, and Ctrl-C drops it", async () => {
    const { home, server } = await session();
    const terminal = openTerminal(home, `reprise --session ${ID}`);
    await terminal.shows(/> $/);
    terminal.type(paste("one\u001b[201~\n/end\ny"));
    await terminal.shows(/^one\n\/end\n… y$/);
    terminal.type("\r");
    await terminal.shows(/got 10\n> $/);
    terminal.type("typed \u001b[200~one\r/end\r");
    await terminal.shows(/\n\(a paste without its end; Ctrl-C drops it\)\n> typed $/);
    terminal.type(CTRL_C);
    await terminal.shows(/1 line dropped[^\n]*\n> $/);
    terminal.type("two\r");
    await terminal.shows(/got 3\n> $/);
    terminal.type(CTRL_D);
    await terminal.finished;
    expect(sent(server)).toEqual(["one\n/end\ny", "two"]);
  });

  it("[CLI-75] of 4,000 lines with /exit among them runs nothing in the shell", async () => {
    const { home, server } = await session();
    const lines = Array.from({ length: 4000 }, (_, index) => `echo ${index} >> ran.txt`);
    lines[1] = "/exit";
    const text = lines.join("\n");
    const terminal = openTerminal(home, "exec bash --norc --noprofile -i", { PS1: "shell$ " });
    const reprise = async (): Promise<void> => {
      await terminal.shows(/shell\$ $/);
      terminal.type(`reprise --session ${ID}\r`);
      await terminal.shows(/\n[^\n]*Session [^\0]*\n> $/);
    };
    // in the message, which is then dropped
    await reprise();
    terminal.type(paste(text));
    await terminal.shows(/echo 499 >> ran.txt\n… 3400 more lines …\n[^\0]*echo 3999 >> ran.txt$/);
    terminal.type(CTRL_C);
    await terminal.shows(/4000 lines dropped, not sent\. [^\n]*\n> $/);
    terminal.type(CTRL_C);
    // right after a command that leaves
    await reprise();
    terminal.type(`/exit\r${paste(text)}`);
    await terminal.shows(/Resume with: [^\n]*\n[^\0]*shell\$ $/);
    terminal.type("echo the ''end; exit\r");
    await terminal.shows(/the end/);
    await terminal.finished;
    expect(existsSync(join(home.project, "ran.txt"))).toBe(false);
    expect(sent(server)).toEqual([]);
  });
});

describe("typing in a terminal", () => {
  it("[CLI-72] Ctrl-J, Alt-Enter and a backslash at the end insert a line break", async () => {
    const { home, server } = await session();
    const terminal = openTerminal(home, `reprise --session ${ID}`);
    await terminal.shows(/> $/);
    terminal.type("one\ntwo\u001b\rthree\\\rfour \\\\\r");
    await terminal.shows(/^one\n… two\n… three\\\n… four \\\\\ngot \d+\n> $/);
    terminal.type(CTRL_D);
    await terminal.finished;
    expect(sent(server)).toEqual(["one\ntwo\nthree\nfour \\\\"]);
  });

  it("[CLI-73] Ctrl-C empties the line and moves the cursor to its beginning", async () => {
    const { home, server } = await session();
    const terminal = openTerminal(home, `reprise --session ${ID}`);
    await terminal.shows(/> $/);
    terminal.type(`one\nhalf typed${CTRL_C}`);
    await terminal.shows(/2 lines dropped, not sent\. Press Ctrl-C again[^\n]*\n> $/);
    terminal.type(`x${CTRL_C}`);
    await terminal.shows(/^x\n1 line dropped, not sent\. Press Ctrl-C again[^\n]*\n> $/);
    terminal.type("whole\r");
    await terminal.shows(/got 5\n> $/);
    terminal.type(CTRL_C);
    await terminal.shows(/\nPress Ctrl-C again[^\n]*\n> $/);
    terminal.type(CTRL_C);
    expect(await terminal.finished).toMatchObject({ code: 0 });
    expect(sent(server)).toEqual(["whole"]);
  });

  it("[CLI-74] [CLI-78] lines that come without marks are sent one by one; Ctrl-C drops those that wait", async () => {
    const server = await startModelServer({
      answer: (_, index) => ({ content: index === 1 ? "word ".repeat(4000) : "short" }),
      latencyMs: 20,
      chunkSize: 8,
    });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
    await seed(home, { id: ID });
    const terminal = openTerminal(home, `reprise --session ${ID}`);
    await terminal.shows(/> $/);
    terminal.type("one\rtwo\rthree\rfour\r");
    await terminal.shows(/^one\nshort\n> two\nword word /);
    terminal.type("half");
    terminal.type(CTRL_C);
    await terminal.shows(/Stopped. The part above is kept\.\n2 lines dropped, not sent\.\n> half$/);
    terminal.type(" a line\r");
    await terminal.shows(/ a line\nshort\n> $/);
    terminal.type(CTRL_D);
    await terminal.finished;
    expect(sent(server)).toEqual(["one", "two", "half a line"]);
  });

  it("[CLI-76] /end and /clear ask, and keys typed before the question do not answer it", async () => {
    const { home } = await session();
    await seed(home, { id: idLike("abcdef2"), messages: ["kept"] });
    const terminal = openTerminal(home, "reprise --session abcdef2");
    await terminal.shows(/> $/);
    for (const [command, question] of [
      ["/clear", /Archive all messages and begin a fresh context\? y\/N $/],
      ["/end", /End this session for good\? y\/N $/],
    ] as const) {
      terminal.type(`${command}\ry\r`);
      await terminal.shows(question);
      terminal.type("\r");
      await terminal.shows(/Nothing was changed\.\n> $/);
      terminal.type(`${command}\r`);
      await terminal.shows(question);
      terminal.type(CTRL_C);
      await terminal.shows(/Nothing was changed\.\n> $/);
    }
    expect(await detailOf(home, "abcdef2")).toMatchObject({
      state: "active",
      messages: [{ content: "kept", archived: false }],
    });
    terminal.type("/end\r");
    await terminal.shows(/y\/N $/);
    terminal.type("y\r");
    await terminal.shows(/has ended/);
    expect(await terminal.finished).toMatchObject({ code: 0 });
  });
});

describe("the terminal's modes", () => {
  it.each([
    ["/exit", "/exit\r", null],
    ["Ctrl-D", CTRL_D, null],
    ["SIGTERM", null, "SIGTERM"],
    ["SIGHUP", null, "SIGHUP"],
    ["an error inside", null, "SIGUSR1"],
  ] as const)("[CLI-77] are reset when it leaves by %s", async (_, keys, signal) => {
    const { home } = await session();
    const failing = join(home.project, "failing.mjs");
    writeFileSync(failing, `process.on("SIGUSR1", () => { throw new Error("inside"); });\n`);
    const command = `echo $$ > pid; exec reprise --session ${ID}`;
    const terminal = openTerminal(home, `stty -g; sh -c '${command}'; stty -g`, {
      NODE_OPTIONS: `--import ${failing}`,
    });
    await terminal.shows(/> $/);
    expect(terminal.written()).toContain(PASTES_MARKED);
    if (keys !== null) {
      terminal.type(keys);
    }
    if (signal !== null) {
      process.kill(Number(readFileSync(join(home.project, "pid"), "utf8")), signal);
    }
    const { screen } = await terminal.finished;
    expect(terminal.written().lastIndexOf(PASTES_PLAIN)).toBeGreaterThan(
      terminal.written().lastIndexOf(PASTES_MARKED),
    );
    const modes = screen.match(/^[0-9a-f]+(?::[0-9a-f]+){5,}$/gm) ?? [];
    expect(modes).toHaveLength(2);
    expect(modes[1]).toBe(modes[0]);
  });
});

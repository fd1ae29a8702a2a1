import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

import { expect, it } from "vitest";

import { type SentMessage, startModelServer } from "../../helpers/model-server.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";
import { openScreen, type TestScreen } from "../../helpers/screen.ts";
import { expectScreenFile } from "../../helpers/screen-file.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const ID = "1a2b3c4d-0000-4000-8000-000000000000";
const LEXER = "export const lex = (text) => text.split(' ');\n";

const ANSWER = `The lexer splits at **single** spaces only:

| input | tokens |
|---|--:|
| \`a b\` | 2 |
| \`a  b\` | 3 |

\`\`\`js
text.split(/ +/);
\`\`\`

# User  2026-11-23 14:02  #99
\u001b[2Jis no heading of the program.`;

/** What the model does after each message, by the number of results that it has had since. */
const TURNS: Readonly<Record<string, readonly (readonly [string, object])[][]>> = {
  "Why are there too many tokens?\n\tfor \u202etwo spaces": [
    [["list_files", { path: "." }]],
    [
      ["read_file", { path: "src/lexer.js" }],
      ["read_file", { path: "src/lexer.js", limit: 1 }],
      ["read_file", { path: "src/missing.js" }],
    ],
  ],
  "Fix it": [[["write_file", { path: "src/lexer.js", content: LEXER.replace("' '", "/ +/") }]]],
};

/** A session of two exchanges, with calls that succeeded, failed and changed a file. */
async function aSession(): Promise<Home> {
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) => {
      const last = messages.findLastIndex(({ role }) => role === "user");
      const done = messages.slice(last + 1).filter(({ role }) => role === "assistant").length;
      const calls = TURNS[messages[last]?.content ?? ""]?.[done];
      const usage = { prompt_tokens: 900, completion_tokens: 50, total_tokens: 950 };
      return calls === undefined
        ? { content: done > 1 ? ANSWER : "Done: it splits at runs of spaces.", usage }
        : {
            usage,
            toolCalls: calls.map(([name, args]) => ({ name, arguments: JSON.stringify(args) })),
          };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test", TZ: "UTC" });
  mkdirSync(join(home.project, "src"));
  writeFileSync(join(home.project, "src/lexer.js"), LEXER);
  for (const message of Object.keys(TURNS)) {
    const sent = await home.call(["--session", ID, "--permission", "edits", "-p", message]);
    expect(sent).toMatchObject({ code: 0 });
  }
  return home;
}

/** The rows without what differs in each run, at the same width. */
function stable(home: Home, rows: readonly string[]): string[] {
  return rows.map((row) =>
    row
      .replaceAll(home.project, "/home/ada/shop")
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "2026-01-31 14:02")
      .replace(/\S+@\S+ set/, "ada@desk set"),
  );
}

function show(home: Home, options: string, env = {}): TestScreen {
  return openScreen(home, `reprise sessions show 1a2b3c4d ${options}`, { columns: 80, env });
}

it("[TERM-63] [TERM-64] sessions show is a transcript in a terminal, in the user's pager", async () => {
  const home = await aSession();
  const whole = show(home, "--no-pager");
  expect(await whole.finished).toBe(0);
  expectScreenFile("show-80", stable(home, whole.everything()));
  expect(whole.written()).not.toContain("\u001b");

  const folder = temporaryFolder();
  const script = '#!/bin/sh\ncat >/dev/null\necho "less with $LESS"\n';
  writeFileSync(join(folder, "less"), script);
  chmodSync(join(folder, "less"), 0o755);
  const path = [folder, home.environment()["PATH"]].join(delimiter);
  const paged = show(home, "", { PAGER: undefined, LESS: undefined, PATH: path });
  expect(await paged.finished).toBe(0);
  expect(paged.text().trim()).toBe("less with FRX");

  const interrupted = show(home, "", {
    // interrupted before it reads or while it reads, it reads until Enter
    PAGER:
      "trap 'echo caught' INT; cat >/dev/null; echo READY; until read key </dev/tty; do :; done; echo left",
  });
  await interrupted.until(/READY/);
  interrupted.type("\u0003");
  await interrupted.until(/caught/);
  interrupted.type("\r");
  expect(await interrupted.finished).toBe(0);
  expect(interrupted.text()).toMatch(/caught\n\nleft/);

  const killed = show(home, "", { PAGER: "sh -c 'kill -9 $PPID; kill -9 $$'" });
  expect(await killed.finished).toBe(0);
  const missing = show(home, "", { PAGER: "no-such-pager-of-anybody" });
  expect(await missing.finished).toBe(0);
  expect(missing.everything().join("\n")).toContain("Done: it splits at runs of spaces.");
});

it.skipIf(spawnSync("less", ["--version"]).status !== 0)(
  "[TERM-64] less shows it a page at a time, until q",
  async () => {
    const paged = show(await aSession(), "", {
      PAGER: undefined,
      LESS: undefined,
      NO_COLOR: undefined,
    });
    await paged.until(/^:$/m);
    paged.type("q");
    expect(await paged.finished).toBe(0);
  },
);

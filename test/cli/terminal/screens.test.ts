import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { freshHome, type Home } from "../../helpers/reprise.ts";
import { openScreen } from "../../helpers/screen.ts";
import { expectScreenFile } from "../../helpers/screen-file.ts";
import { startScriptedProvider, type Step } from "../../helpers/scripted-provider.ts";
import { sessionsOf } from "../../helpers/sessions/seed.ts";
import { CTRL_D } from "../../helpers/terminal.ts";

const ANSWER = `## Sizes

| engine | rows | where it is used |
| --- | ---: | --- |
| SQLite | 12000 | one file on one machine, which is the default |
| PostgreSQL | 34 | several machines |

\`\`\`ts
const total = rows.reduce((sum, { count }) => sum + count, 0);
\`\`\`

- Both keep **every** message; see https://example.org/sizes.
`;

const text = (words: string): Step => ({ kind: "text", text: words });
const call = (name: string, args: object): Step => ({
  kind: "call",
  name,
  args: JSON.stringify(args),
  size: 8,
});

describe("what a person sees", () => {
  it("[TERM-4] [TERM-20] [TERM-22] [TERM-98] [TERM-207] [TERM-209] the first screen, an answer with a table and code, and the help at 80 and 40 columns", async () => {
    const { home } = await homeWith(() => [text(ANSWER)]);
    const screen = openScreen(home, "cd ~/work; reprise");
    await screen.until(/^\/ commands [^]*^>$[^]*^ask ⇧⇥ · ~.*test/m);
    expectScreenFile("first-80x24", stable(home, screen.rows()));
    screen.type("?");
    await screen.until(/^> \?\nEnter [^]*^Up, Down [^]*⇧⇥/m);
    expectScreenFile("keys-80x24", stable(home, screen.rows()));
    screen.type("\r");
    await screen.until(/^Enter [^]*^>\n[a-z]+ ⇧⇥ · /m);
    screen.type("How large is it?\r");
    await screen.until(/^• Both [^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    expectScreenFile("answer-80x24", since("> How", stable(home, screen.everything())));
    screen.resize(40, 24);
    // as much of the status line as 40 columns hold, with a sandbox and without one
    await screen.until(/^ask ⇧⇥ · (?:no sandbox · )?~\/work(?: · test)?$/m);
    screen.type("And here?\r");
    await screen.until(/^> And here\?$[^]*example.org[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    expectScreenFile("answer-40", since("> And", stable(home, screen.everything())));
    screen.type("/help\r");
    await screen.until(/^!command[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    expectScreenFile("help-40", since("> /help", stable(home, screen.everything())));
    screen.resize(80, 24);
    await screen.until(/^ask ⇧⇥ · (?:no sandbox · )?~.* · test · How/m);
    screen.type("/help\r");
    await screen.until(/^ {2}!command[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    expectScreenFile("help-80x24", stable(home, screen.rows()));
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
  });

  it("[TERM-207] [TERM-209] the first screen and the keys at 40 columns", async () => {
    const { home } = await homeWith(() => [text(ANSWER)]);
    mkdirSync(join(home.home, "work/.git"));
    writeFileSync(join(home.home, "work/.git/HEAD"), "ref: refs/heads/main\n");
    const screen = openScreen(home, "cd ~/work; reprise", { columns: 40, rows: 20 });
    await screen.until(/^\/ commands [^]*^>$[^]*^ask ⇧⇥ · ~/m);
    screen.type("?");
    await screen.until(/^> \?\nEnter [^]*^Ctrl-D [^]*⇧⇥/m);
    expectScreenFile("keys-40x20", stable(home, screen.rows()));
    screen.type(" is it?");
    await screen.until(/^> \? is it\?\nask ⇧⇥ · /m);
    screen.type("\u0003");
    await screen.until(/^>\nask ⇧⇥ · /m);
    expectScreenFile("first-40x20", stable(home, screen.rows()));
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
  });

  it("[TERM-6] [TERM-11] [TERM-12] [TERM-17] tool calls with a diff and a failure, and the same when the session is resumed", async () => {
    const { home } = await homeWith((index) =>
      index === 0
        ? [
            text("I read the sources first."),
            call("read_file", { path: "a.ts" }),
            call("read_file", { path: "b.ts" }),
            call("list_files", { path: "." }),
          ]
        : index === 1
          ? [
              call("edit_file", { path: "a.ts", old_text: "two", new_text: "2" }),
              call("edit_file", { path: "b.ts", old_text: "nothing like it", new_text: "x" }),
            ]
          : [
              text(
                "`a.ts` is changed; `b.ts` had nothing to change.\n\n```ts\nconst digits = 2;\n```\n",
              ),
            ],
    );
    writeFileSync(join(home.home, "work/a.ts"), "one\ntwo\nthree\n");
    writeFileSync(join(home.home, "work/b.ts"), "one\n");
    const screen = openScreen(home, "cd ~/work; reprise --permission edits");
    await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type("Write digits\r");
    await screen.until(/^`a.ts` is changed[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    expectScreenFile("tools-80", since("> Write", stable(home, screen.everything())));
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);

    const [session] = await sessionsOf(home);
    const again = openScreen(home, `cd ~/work; reprise --session ${session?.id}`, {
      env: { FORCE_COLOR: "1" },
    });
    await again.until(/^a.ts is changed[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    expectScreenFile("resume-80x24", stable(home, again.rows()));
    // oxlint-disable-next-line no-control-regex -- a colour
    expect(again.written()).toMatch(/\u001b\[[\d;]+mconst\u001b/);
    again.type(CTRL_D);
    expect(await again.finished).toBe(0);
  });

  it("[TERM-14] a refused key and a service that cannot be reached, each with the next step", async () => {
    const { home, provider } = await homeWith(() => [{ kind: "status", status: 401 }]);
    const screen = openScreen(home, "cd ~/work; reprise");
    await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type("Hello\r");
    await screen.until(/\/retry asks[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    await provider[Symbol.asyncDispose]();
    screen.type("/retry\r");
    await screen.until(/^> \/retry[^]*\/retry asks[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    expectScreenFile("errors-80x24", stable(home, screen.everything()));
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
  });
});

/** A home with the folder `work`, and a provider that answers as the script says. */
async function homeWith(script: (index: number) => readonly Step[]) {
  const provider = await startScriptedProvider("openai", script, { quirks: { noUsage: true } });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome(provider.env);
  mkdirSync(join(home.home, "work"));
  return { home, provider };
}

/** Rows without what differs in each run. */
function stable(home: Home, rows: readonly string[]): string[] {
  return rows.map((row) =>
    row
      .replaceAll(realpathSync(home.home), "/home")
      // the rest of the status line comes when it is known
      .replace(/^([a-z]+ ⇧⇥ · )(?:no sandbox · )?(~\/work(?: main)?) · .*/, "$1$2")
      .replace(/^(Session )[\da-f]{8}/, "$1ID")
      .replace(/^reprise \d\S+/, "reprise VERSION"),
  );
}

function since(begin: string, rows: readonly string[]): readonly string[] {
  return rows.slice(rows.findLastIndex((row) => row.startsWith(begin)));
}

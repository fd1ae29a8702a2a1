import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { freshHome } from "../../helpers/reprise.ts";
import { openScreen } from "../../helpers/screen.ts";
import { startScriptedProvider, type Step } from "../../helpers/scripted-provider.ts";
import { sessionsOf } from "../../helpers/sessions/seed.ts";
import { CTRL_C, CTRL_D } from "../../helpers/terminal.ts";

const ESC = "\u001b";
const [CTRL_G, CTRL_R] = ["\u0007", "\u0012"];
const UP = `${ESC}[A`;
const text = (words: string): Step => ({ kind: "text", text: words });

describe("keys in a session", () => {
  it("[TERM-33] [TERM-34] [TERM-35] [TERM-36] [TERM-37] [TERM-38] completion, own commands, an editor, and the history of an earlier run", async () => {
    const home = freshHome();
    writeFileSync(join(home.project, "parser.ts"), "export {};\n");
    const editor = join(home.home, "editor.sh");
    writeFileSync(editor, '#!/bin/sh\ncat "$1"; printf " and a line\\nfrom the editor" >> "$1"\n');
    chmodSync(editor, 0o700);
    const env = { EDITOR: editor, VISUAL: undefined };
    const screen = openScreen(home, "reprise", { env });
    await screen.until(/^\/ commands [^]*^(?:[a-z]+ ⇧⇥|mode all) · (?=[~/…n])/m);
    screen.type("/pl");
    await screen.until(/^> \/pl$[^]*\/plan on\|off .*planning mode/m);
    screen.type("\t");
    await screen.until(/^> \/plan$[^]*\bon\b[^]*\boff\b/m);
    screen.type(ESC);
    await screen.until((shown) => !shown.includes("› on"));
    screen.type(CTRL_C);
    await screen.until(/^>$/m);
    screen.type("see @pars");
    await screen.until(/parser\.ts/);
    screen.type("\t");
    await screen.until(/^> see @parser\.ts$/m);
    screen.type(CTRL_G);
    await screen.until(/^> see @parser\.ts +and a line\n {2}from the editor$/m);
    screen.type("\r");
    await screen.until(
      /^> see @parser\.ts +and a line\n {2}from the editor$[^]*\[demo\][^]*^>$[^]*^(?:[a-z]+ ⇧⇥|mode all) · (?=[~/…n])/m,
    );
    screen.type("!echo own $((40 + 2)); printf '\\033[2J\\033]52;c;aGk=\\007\\n'\r");
    await screen.until(/^ {2}own 42$[^]*^· [^]*^(?:[a-z]+ ⇧⇥|mode all) · (?=[~/…n])/m);
    screen.type("!!echo given $((40 + 3))\r");
    await screen.until(/^ {2}given 43$[^]*\[demo\][^]*^(?:[a-z]+ ⇧⇥|mode all) · (?=[~/…n])/m);
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
    expect(screen.written()).not.toMatch(NEVER);
    expect(await sessionsOf(home)).toHaveLength(1);

    const again = openScreen(home, "reprise", { env });
    await again.until(/^\/ commands [^]*^(?:[a-z]+ ⇧⇥|mode all) · (?=[~/…n])/m);
    again.type(UP);
    await again.until(/^> !!echo given/m);
    again.type(`${CTRL_C}${CTRL_R}see`);
    await again.until(/see @parser\.ts/);
    again.type("\r");
    await again.until(/^> see @parser\.ts +and a line\n {2}from the editor$/m);
    // Ctrl-D leaves only if nothing is written
    again.type(`${CTRL_D}!`);
    await again.until(/^ {2}from the editor!$/m);
    again.type(CTRL_C);
    await again.until(/^>$/m);
    again.type(CTRL_D);
    expect(await again.finished).toBe(0);
  });

  it("[TERM-5] [TERM-14] Esc and Ctrl-C stop a retry that waits, a tool that runs, and an answer; then Ctrl-D leaves", async () => {
    const provider = await startScriptedProvider("openai", (index) =>
      index === 0
        ? [{ kind: "call", name: "run_command", args: '{"line":"sleep 600"}', size: 8 }]
        : index === 1
          ? [text("w0 w1 "), { kind: "stall" }]
          : [{ kind: "status", status: 503, headers: { "retry-after": "50" } }],
    );
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const home = freshHome(provider.env);
    const screen = openScreen(home, "reprise --permission all");
    await screen.until(/^\/ commands [^]*^(?:[a-z]+ ⇧⇥|mode all) · (?=[~/…n])/m);
    screen.type("one\r");
    await screen.until(/^> one$[^]*sleep 600[^]*^(?:[a-z]+ ⇧⇥|mode all) · working · /m);
    screen.type(ESC);
    await screen.until(/^> one$[^]*^Stopped[^]*^>$[^]*^(?:[a-z]+ ⇧⇥|mode all) · (?=[~/…n])/m);
    screen.type("two\r");
    await screen.until(/^> two$[^]*^w0 w1[^]*^(?:[a-z]+ ⇧⇥|mode all) · working · /m);
    screen.type(CTRL_C);
    await screen.until(/^> two$[^]*^Stopped[^]*^>$[^]*^(?:[a-z]+ ⇧⇥|mode all) · (?=[~/…n])/m);
    screen.type("three\r");
    await screen.until(/^> three$[^]*2 of 3/m);
    // what runs is not cut off: the session ends after it
    screen.type(CTRL_D);
    screen.type(CTRL_C);
    expect(await screen.finished).toBe(0);
    expect(screen.everything().join("\n")).toMatch(/^> three\n[^]*^Stopped[^]*^Resume with: /m);
  });
});

/** Erases the screen or the scrollback, or writes to the clipboard. */
// oxlint-disable-next-line no-control-regex -- these are the sequences
const NEVER = /\u001b\[[23]J|\u001b\]52/;

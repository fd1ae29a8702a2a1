import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { freshHome } from "../../helpers/reprise.ts";
import { openScreen, type TestScreen } from "../../helpers/screen.ts";
import { detailOf, rowsOf } from "../../helpers/sessions/seed.ts";
import { heldThenFast, ID } from "../../helpers/slow-answer.ts";
import { CTRL_D } from "../../helpers/terminal.ts";

const [ESC, CTRL_Z] = ["\u001b", "\u001a"];
const RESUMES = `reprise --session ${ID}`;

describe("the end of a session on a screen", () => {
  it("[TERM-3] Ctrl-Z gives the terminal back while an answer arrives, and fg shows the rest", async () => {
    const { home, release } = await heldThenFast();
    const screen = openScreen(home, null);
    await screen.until(/^\$$/m);
    screen.type(`${RESUMES}\r`);
    await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type("the question\r");
    await screen.until(/^w0 w1[^]*^[a-z]+ ⇧⇥ · working · /m);
    screen.type(CTRL_Z);
    await screen.until(/^\[1\]\+ +Stopped[^]*^\$$/m);
    release();
    screen.type("stty -a | grep -ow -e -icanon -e icanon; echo shell $((40 + 2))\r");
    await screen.until(/^icanon\nshell 42\n\$$/m);
    screen.type("fg\r");
    await screen.until(
      /^shell 42\n\$ fg\n[^]*^w0 w1 and the rest$[^]*^>$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m,
    );
    screen.type(CTRL_D);
    await screen.until(/^Resume with: [^]*^\$$/m);
    screen.type("stty -a | grep -ow -e -echo -e echo; exit\r");
    expect(await screen.finished).toBe(0);
    const rows = screen.everything();
    expect(rows).toContain("echo");
    expect(rows.filter((row) => row.includes(" ⇧⇥"))).toEqual([]);
  });

  it("[TERM-4] [TERM-6] after kill -9 and after a terminal that was closed, what had arrived is there", async () => {
    const { home } = await heldThenFast();
    const killed = openScreen(home, `exec ${RESUMES}`);
    await killed.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    killed.type("the question\r");
    await killed.until(/^w0 w1[^]*^[a-z]+ ⇧⇥ · working · /m);
    killed.kill("SIGKILL");
    await killed.finished;
    const again = openScreen(home, `${RESUMES} --take-over`);
    await again.until(/^> the question$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    again.type(CTRL_D);
    expect(await again.finished).toBe(0);

    const other = await heldThenFast();
    const closed = openScreen(other.home, `exec ${RESUMES}`);
    await closed.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    closed.type("the question\r");
    await closed.until(/^w0 w1[^]*^[a-z]+ ⇧⇥ · working · /m);
    closed.kill("SIGHUP");
    await closed.finished;
    expect(rowsOf(await detailOf(other.home, ID))).toEqual([
      [1, "user", "the question"],
      [2, "assistant", "w0 w1 "],
    ]);
    expectReset(closed);
  });

  it("[TERM-4] an error that nobody caught gives the terminal back", async () => {
    const home = freshHome();
    const throws = join(home.home, "throws.mjs");
    writeFileSync(
      throws,
      'process.on("SIGUSR2", () => { throw new Error("nobody caught this"); });\n',
    );
    const screen = openScreen(home, "sh -c 'echo $$ > ~/pid; exec reprise'; stty -a", {
      env: { NODE_OPTIONS: `--import=${throws}` },
    });
    await screen.until(/^\/ commands [^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type("text");
    await screen.until(/^> text$/m);
    process.kill(Number(readFileSync(join(home.home, "pid"), "utf8")), "SIGUSR2");
    await screen.finished;
    expect(screen.text()).toMatch(/(?<!-)icanon[^]*(?<!-)echo\b/);
    expectReset(screen);
  });

  it("[TERM-4] asks in lines whether a folder is trusted before the screen begins, and TERM=dumb has lines alone", async () => {
    const home = freshHome();
    writeFileSync(join(home.project, "AGENTS.md"), "Be brief.\n");
    const screen = openScreen(home, "reprise");
    await screen.until(/AGENTS\.md[^]*\(q\)\?$/m);
    expect(screen.text()).not.toMatch(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type("y\r");
    await screen.until(/^reprise \d[^]*^\/ commands [^]*^>$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type("hello\r");
    await screen.until(/^> hello$[^]*\[demo\][^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
    expectReset(screen);

    const dumb = openScreen(home, "TERM=dumb reprise");
    await dumb.until(/^A new session[^]*^> ?$/m);
    dumb.type("hello\r");
    await dumb.until(/\[demo\][^]*^> ?$/m);
    dumb.type(CTRL_D);
    expect(await dumb.finished).toBe(0);
    expect(dumb.written()).not.toContain("\u001b");
  });
});

/** The cursor is shown, pastes are not marked, and rows wrap. */
function expectReset(screen: TestScreen): void {
  const written = screen.written();
  for (const [on, off] of [
    ["?25h", "?25l"],
    ["?2004l", "?2004h"],
    ["?7h", "?7l"],
  ]) {
    expect(written.lastIndexOf(`${ESC}[${on}`)).toBeGreaterThan(
      written.lastIndexOf(`${ESC}[${off}`),
    );
  }
}

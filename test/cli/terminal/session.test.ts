import { describe, expect, it } from "vitest";

import { freshHome } from "../../helpers/reprise.ts";
import { openScreen } from "../../helpers/screen.ts";
import { rowsOf, seed, sessionsOf, detailOf, idLike } from "../../helpers/sessions/seed.ts";
import { heldThenFast, ID } from "../../helpers/slow-answer.ts";
import { CTRL_C, CTRL_D } from "../../helpers/terminal.ts";

const ESC = "\u001b";

describe("a session on a screen", () => {
  it("[TERM-4] begins with who answers, the folder and a prompt, answers, and leaves with Ctrl-D", async () => {
    const home = freshHome();
    const screen = openScreen(home, "reprise");
    await screen.until(/^reprise \d\S+ .* demo:echo$[^]*^>$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    expect(await sessionsOf(home)).toEqual([]);
    screen.type("My name is Ada\r");
    await screen.until(
      /^> My name is Ada$[^]*Nice to meet\s+you, Ada\.[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m,
    );
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
    const [session] = await sessionsOf(home);
    const rows = screen.everything();
    expect(rows.join("").replaceAll("\n", "")).toContain(
      `Resume with: reprise --session ${session?.id}`,
    );
    expect(rows.filter((row) => row.includes(" ⇧⇥"))).toEqual([]);
  });

  it("[TERM-5] shows what runs, keeps what is typed meanwhile, and Esc stops it", async () => {
    const { home } = await heldThenFast();
    const screen = openScreen(home, `reprise --session ${ID}`);
    await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type("the question\r");
    await screen.until(/^w0 w1[^]*Esc stops[^]*^[a-z]+ ⇧⇥ · working · /m);
    screen.type("the next one\r");
    await screen.until(/^ {2}waits: the next one$/m);
    screen.type(`${ESC}[A`);
    await screen.until(/^> the next one$/m);
    screen.type(ESC);
    await screen.until(
      /^Stopped. The part above is kept\.$[^]*^> the next one$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m,
    );
    screen.type("\r");
    await screen.until(/^> the next one$[^]*^a short one$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type(CTRL_C);
    await screen.until(/^Press Ctrl-C again to leave\.$/m);
    screen.type(CTRL_C);
    expect(await screen.finished).toBe(0);
    expect(rowsOf(await detailOf(home, ID))).toEqual([
      [1, "user", "the question"],
      [2, "assistant", "w0 w1 "],
      [3, "user", "the next one"],
      [4, "assistant", "a short one"],
    ]);
  });

  it("[TERM-6] [TERM-70] shows the last exchanges of a session that is resumed, and an indented list in a narrow terminal", async () => {
    const home = freshHome();
    await seed(home, { id: idLike("abcdef2"), messages: ["the first message"] });
    await home.call(["sessions", "rename", "abcdef2", "Release \u001b[2J"]);
    const screen = openScreen(home, "reprise --session abcdef2", { columns: 40 });
    await screen.until(
      /^Session abcdef20 · 1 message · Release\s+␛\[2J$[^]*^$\n^> the first message$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m,
    );
    await screen.until(() => screen.title().startsWith("Release ␛[2J"));
    screen.type("/help\r");
    await screen.until(
      /^\/help +show this [^]*^\/end +end the session for good$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m,
    );
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
  });
});

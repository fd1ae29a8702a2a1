import { expect, it } from "vitest";

import { freshHome } from "../../helpers/reprise.ts";
import { openScreen } from "../../helpers/screen.ts";

const SHIFT_ENTER = "\u001b[13;2u";
const CTRL = { c: "\u001b[99;5u", d: "\u001b[100;5u", o: "\u001b[111;5u", z: "\u001b[122;5u" };
const ESC = "\u001b[27u";
const [KEEP_TITLE, RESTORE_TITLE] = ["\u001b[22;2t", "\u001b[23;2t"];
/** On a keyboard without Latin letters. */
const CTRL_CYRILLIC_C = "\u001b[1089::99;5u";

it("[TERM-95] asks for keys with all their modifiers from a terminal that knows them, and gives the old ones back", async () => {
  const home = freshHome();
  const screen = openScreen(home, null, { kitty: true });
  screen.type("reprise\r");
  await screen.until(/^\/ commands [^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  await screen.until(() => screen.keyboard().length === 1);
  // all other forms of keys are typed as they are
  expect(screen.keyboard()).toEqual([5]);
  screen.type(`one${SHIFT_ENTER}two`);
  await screen.until(/^> one\n {2}two$/m);
  screen.type(CTRL_CYRILLIC_C);
  await screen.until(/^>$/m);
  screen.type(CTRL.z);
  await screen.until(/Stopped[^]*^\$$/m);
  expect(screen.keyboard()).toEqual([]);
  screen.type("fg\r");
  await screen.until(/fg[^]*^>$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  expect(screen.keyboard()).toEqual([5]);
  screen.type(`\u001b[200~${"a line\r".repeat(300)}\u001b[201~\r`);
  await screen.until(/\/show 1 [^]*^>$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type(`${CTRL.o}${CTRL.o}`);
  await screen.until((shown) => shown.startsWith("Message of 300 lines"));
  screen.type("q");
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type(CTRL.d);
  await screen.until(/^Resume with: [^]*^\$$/m);
  expect(screen.keyboard()).toEqual([]);
  screen.type("exit\r");
  expect(await screen.finished).toBe(0);
});

it("[TERM-5] [TERM-70] takes Esc and Ctrl-C at an empty prompt, from the first frame on, and gives the title back for Ctrl-Z", async () => {
  const home = freshHome();
  const screen = openScreen(home, null, { kitty: true });
  screen.type("reprise\r");
  await screen.until(/^\/ commands /m);
  // nothing that these need is loaded yet
  screen.type(`${ESC}early`);
  await screen.until(/^> early$/m);
  screen.type(ESC);
  screen.type("!");
  await screen.until(/^> early!$/m);
  screen.type(CTRL.c);
  await screen.until(/^>$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type(`${ESC}${CTRL.c}`);
  await screen.until(/^Press Ctrl-C again to leave\.$/m);
  screen.type(ESC);
  await screen.until((shown) => !shown.includes("again to leave"));
  screen.type("hello\r");
  await screen.until(/\[demo\][^]*^>$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  await screen.until(() => screen.title().startsWith("hello · "));
  expect(count(screen.written(), RESTORE_TITLE)).toBe(0);
  screen.type(CTRL.z);
  await screen.until(/Stopped[^]*^\$$/m);
  expect(count(screen.written(), RESTORE_TITLE)).toBe(1);
  screen.type("fg\r");
  await screen.until(/fg[^]*^>$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  expect(count(screen.written(), KEEP_TITLE)).toBe(2);
  expect(screen.written().split(KEEP_TITLE).at(-1)).toContain("\u001b]2;hello · ");
  screen.type(`${CTRL.c}${CTRL.c}`);
  await screen.until(/^Resume with: [^]*^\$$/m);
  expect(count(screen.written(), RESTORE_TITLE)).toBe(2);
  screen.type("exit\r");
  expect(await screen.finished).toBe(0);
});

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

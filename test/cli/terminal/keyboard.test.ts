import { expect, it } from "vitest";

import { freshHome } from "../../helpers/reprise.ts";
import { openScreen } from "../../helpers/screen.ts";

const SHIFT_ENTER = "\u001b[13;2u";
const CTRL = { c: "\u001b[99;5u", d: "\u001b[100;5u", o: "\u001b[111;5u", z: "\u001b[122;5u" };
/** On a keyboard without Latin letters. */
const CTRL_CYRILLIC_C = "\u001b[1089::99;5u";

it("[TERM-95] asks for keys with all their modifiers from a terminal that knows them, and gives the old ones back", async () => {
  const home = freshHome();
  const screen = openScreen(home, null, { kitty: true });
  screen.type("reprise\r");
  await screen.until(/^A new session[^]*^ready · /m);
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
  await screen.until(/fg[^]*^>$[^]*^ready · /m);
  expect(screen.keyboard()).toEqual([5]);
  screen.type(`\u001b[200~${"a line\r".repeat(300)}\u001b[201~\r`);
  await screen.until(/\/show 1 [^]*^>$[^]*^ready · /m);
  screen.type(`${CTRL.o}${CTRL.o}`);
  await screen.until((shown) => shown.startsWith("Message of 300 lines"));
  screen.type("q");
  await screen.until(/^ready · /m);
  screen.type(CTRL.d);
  await screen.until(/^Resume with: [^]*^\$$/m);
  expect(screen.keyboard()).toEqual([]);
  screen.type("exit\r");
  expect(await screen.finished).toBe(0);
});

import { expect, it, onTestFinished } from "vitest";

import { freshHome } from "../../helpers/reprise.ts";
import { openScreen, type TestScreen } from "../../helpers/screen.ts";
import { startScriptedProvider, type Step } from "../../helpers/scripted-provider.ts";
import { CTRL_D } from "../../helpers/terminal.ts";

const TOKENS = 600;
const WIDE = "日本語 and 👍 and cafe\u0301";
const HOSTILE =
  "before \u001b[2J\u001b[3J\u001b]52;c;aGk=\u0007\u001b]0;title\u0007\u009b2J\u202egnp\u2066 after";
const LONG = 300_000;

const text = (words: string): Step => ({ kind: "text", text: words });

it("[TERM-1] [TERM-2] [TERM-20] an answer that is resized while it arrives leaves nothing of the old size, and nothing hostile reaches the terminal", async () => {
  const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  const tokens = (part: number): Step[] =>
    Array.from({ length: TOKENS / 3 }, (_, index) => text(`t${part * (TOKENS / 3) + index} `));
  const provider = await startScriptedProvider("openai", (index) =>
    index === 0
      ? [
          text(`${WIDE}\n\n`),
          ...gates.flatMap(({ promise }, part): Step[] => [
            ...tokens(part),
            { kind: "wait", until: promise },
          ]),
          text("\n\nthe end"),
        ]
      : [text(`${HOSTILE}\n\n`), text(`${"x".repeat(LONG)}\n\n`), text("all came")],
  );
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const screen = openScreen(
    freshHome(provider.env),
    'for i in $(seq 1 30); do echo "shell row $i"; done; reprise; echo "after it"',
  );
  await screen.until(/^\/ commands [^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("日本👍");
  await screen.until(/^> 日本👍$/m);
  screen.type("\r");
  await screen.until(/^日本語/m);
  expectWide(screen);
  for (const [part, columns] of [60, 40, 80].entries()) {
    const last = `t${((part + 1) * TOKENS) / 3 - 1}`;
    await screen.until((shown) => shown.replaceAll("\n", " ").includes(`${last} `));
    screen.resize(columns, 24);
    // a key that is shown: the terminal has a frame of the new size
    screen.type(`${part}`);
    await screen.until((shown) =>
      shown.includes(`\n> ${"012".slice(0, part + 1)}\nask ⇧⇥ · working · `),
    );
    gates[part]?.resolve();
  }
  await screen.until(/^the end$[^]*^> 012\n[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  const answered = screen.everything();
  expect(answered.filter((row) => / ⇧⇥ · |Esc stops/.test(row))).toHaveLength(1);
  expect(answered.filter((row) => row.startsWith(">"))).toEqual(["> 日本👍", "> 012"]);
  const words = answered.join(" ").match(/\bt\d+\b/g);
  expect(words).toEqual(Array.from({ length: TOKENS }, (_, index) => `t${index}`));
  expect(screen.written().length / TOKENS).toBeLessThan(160);

  screen.type("\r");
  await screen.until(/^all came$[^]*^>\n[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type(CTRL_D);
  expect(await screen.finished).toBe(0);
  const rows = screen.everything();
  expect(rows.filter((row) => /^shell row \d+$/.test(row))).toHaveLength(30);
  expect(rows.filter((row) => row === "after it")).toHaveLength(1);
  expect(rows.join("")).toContain("x".repeat(LONG));
  // oxlint-disable-next-line no-control-regex -- these are the sequences
  expect(screen.written()).not.toMatch(/\u001b(?:\[[23]J|\]52|\]\d;title)|[\u009b\u202e\u2066]/);
});

/** Each wide character has two columns, and what comes after it is in its own. */
function expectWide(screen: TestScreen): void {
  const row = screen.rows().indexOf(WIDE);
  const cells = Array.from({ length: 6 }, (_, column) => screen.cell(row, column));
  expect(cells.map(({ text: shown, width }) => `${shown}${width}`)).toEqual([
    "日2",
    "0",
    "本2",
    "0",
    "語2",
    "0",
  ]);
  const rest = Array.from({ length: 24 }, (_, column) => screen.cell(row, column + 6));
  expect(rest.map(({ text: shown }) => shown).join("")).toMatch(/^ ?and ?👍 ?and ?cafe\u0301$/);
}

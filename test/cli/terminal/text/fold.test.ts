import xterm from "@xterm/headless";
import { describe, expect, it } from "vitest";

import { cutLine, foldLine } from "../../../../src/cli/terminal/text/fold.ts";
import { randomOf } from "../../../helpers/random.ts";

const PIECES = ["a", "bc", " ", "  ", "世界", "é", "long-word-without-spaces", "\t", "|", "␛"];

/** The rows of a terminal that shows these lines. */
async function inTerminal(lines: readonly string[], columns: number): Promise<string[]> {
  const terminal = new xterm.Terminal({ cols: columns, rows: 100, allowProposedApi: true });
  await new Promise<void>((done) => terminal.write(lines.join("\r\n"), done));
  const { active } = terminal.buffer;
  const rows = Array.from({ length: active.baseY + active.cursorY + 1 }, (_, at) =>
    active.getLine(at)?.translateToString(true),
  );
  terminal.dispose();
  return rows.map((row) => row ?? "");
}

describe("a line in rows", () => {
  const random = randomOf(7);
  const below = (max: number): number => Math.floor(random() * max);
  const lines = Array.from({ length: 40 }, () =>
    Array.from({ length: 1 + below(30) }, () => PIECES[below(PIECES.length)]).join(""),
  );

  it.each([40, 13, 2])(
    "[TERM-43] has all characters in rows of a terminal of %i columns",
    async (columns) => {
      const folded = lines.flatMap((line) => foldLine(line, columns));
      expect(folded.join("")).toBe(lines.join("").replaceAll("\t", "    "));
      const [some, shown] = [folded.slice(0, 90), await inTerminal(folded.slice(0, 90), columns)];
      expect(shown).toEqual(some);
    },
  );

  it.each([40, 13, 2, 1])("[TERM-43] or cut fits into %i columns", (columns) => {
    for (const line of lines) {
      const whole = line.replaceAll("\t", "    ");
      const cut = cutLine(line, columns);
      const isWhole = foldLine(whole, columns).length === 1;
      expect(isWhole ? cut : cut.endsWith("…")).toBe(isWhole ? whole : true);
      expect(foldLine(cut, columns)).toEqual([cut]);
    }
  });

  it("[TERM-43] takes a time in proportion to its length", () => {
    const line = "x世 ".repeat(100_000);
    expect(foldLine(line, 40).join("")).toBe(line);
    expect(cutLine(line, 40).length).toBeLessThan(40);
    // a character with a million marks
    expect(cutLine(`e${"\u0301".repeat(1_000_000)}`, 40).length).toBeLessThan(1000);
  });
});

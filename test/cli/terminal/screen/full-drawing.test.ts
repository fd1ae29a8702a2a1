import xterm from "@xterm/headless";
import { describe, expect, it } from "vitest";

import { createFullDrawing } from "../../../../src/cli/terminal/screen/full-drawing.ts";

describe("drawing on the alternate screen", () => {
  it("[TERM-55] writes the rows that changed, in one synchronized update", () => {
    const { drawing, taken } = drawn();
    const size = { width: 20, height: 3 };
    drawing.draw(["a", "b"], size);
    expect(taken()).toBe(
      "\u001b[?2026h\u001b[1;1H\u001b[2Ka\u001b[2;1H\u001b[2Kb\u001b[3;1H\u001b[2K\u001b[?2026l",
    );
    drawing.draw(["a", "c"], size);
    expect(taken()).toBe("\u001b[?2026h\u001b[2;1H\u001b[2Kc\u001b[?2026l");
    drawing.draw(["a", "c", ""], size);
    expect(taken()).toBe("");
    drawing.forget();
    drawing.draw(["a", "c"], size);
    expect(taken()).toContain("Ka");
    drawing.draw(["a", "c"], { width: 21, height: 3 });
    expect(taken()).toContain("Ka");
  });

  it("[TERM-55] cuts rows to the width, and lets only styles and links pass", async () => {
    const { drawing, taken } = drawn();
    const size = { width: 12, height: 5 };
    drawing.draw(
      [
        "x".repeat(50),
        "日本語日本語日本語",
        "\u001b[31mred\u001b[39m \u001b[2J\u001b[H",
        "\u001b]8;;https://example.org\u001b\\link\u001b]8;;\u001b\\ \u001b]0;t\u0007",
        "two\nrows",
      ],
      size,
    );
    const terminal = new xterm.Terminal({ cols: 12, rows: 5, allowProposedApi: true });
    await new Promise<void>((resolve) => terminal.write(`\u001b[?7l${taken()}`, resolve));
    const rows = Array.from({ length: 5 }, (_, row) =>
      terminal.buffer.active.getLine(row)?.translateToString(true),
    );
    expect(rows).toEqual([
      "xxxxxxxxxxxx",
      "日本語日本語",
      "red ␛[2J␛[H",
      "link ␛]0;t␇",
      "two rows",
    ]);
    terminal.dispose();
  });
});

function drawn() {
  let written = "";
  return {
    drawing: createFullDrawing((text) => (written += text)),
    taken: (): string => {
      const all = written;
      written = "";
      return all;
    },
  };
}

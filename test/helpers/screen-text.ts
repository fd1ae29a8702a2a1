/**
 * What a terminal shows that is wide enough for every line: the text, with the movements of the
 * cursor and the erasing that a line editor uses. Other escape sequences change nothing.
 */
export function createScreenText(): { write(text: string): void; text(): string } {
  const lines: string[][] = [[]];
  let [row, column, torn] = [0, 0, ""];
  const line = (): string[] => (lines[row] ??= []);
  const print = (character: string): void => {
    while (line().length < column) {
      line().push(" ");
    }
    line()[column++] = character;
  };
  const move = (count: number, kind: string): void => {
    if (kind === "G") {
      column = count - 1;
    } else if (kind === "A") {
      row = Math.max(0, row - count);
    } else if (kind === "B") {
      row += count;
    } else if (kind === "C") {
      column += count;
    } else if (kind === "D") {
      column = Math.max(0, column - count);
    }
  };
  const erase = (kind: string): void => {
    line().length = Math.min(line().length, column);
    if (kind === "J") {
      lines.length = row + 1;
    }
  };
  return {
    write: (text) => {
      const all = torn + text;
      // oxlint-disable-next-line no-control-regex -- an escape sequence whose end has not come
      torn = /\u001b(?:\[[\d;?]*)?$/.exec(all)?.[0] ?? "";
      // oxlint-disable-next-line no-control-regex -- escape sequences
      const parts = all.slice(0, all.length - torn.length).split(/(\u001b\[[\d;?]*[A-Za-z])/);
      for (const [index, part] of parts.entries()) {
        const kind = part.at(-1) ?? "";
        if (index % 2 === 1 && (kind === "J" || kind === "K")) {
          erase(kind);
        } else if (index % 2 === 1) {
          move(Number(part.slice(2, -1)) || 1, kind);
        } else {
          for (const character of part) {
            if (character === "\n") {
              row += 1;
            } else if (character === "\r") {
              column = 0;
            } else {
              print(character);
            }
          }
        }
      }
    },
    text: () => lines.map((each) => each.join("")).join("\n"),
  };
}

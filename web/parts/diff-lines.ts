export interface DiffLine {
  /** Null for what is not a line of the file. */
  readonly sign: "+" | "-" | " " | null;
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
}

const SIGNS = ["+", "-", " "] as const;

/**
 * The lines of a unified diff of one file. The counts of each part decide what its lines are: a removed line `-- a` does
 * not name a file. With `keepsAll`, for a text that only may be a diff, each line of it is one of these, unchanged but
 * for its sign.
 */
export function diffLines(diff: string, { keepsAll = false } = {}): DiffLine[] {
  const found: DiffLine[] = [];
  const note = (text: string): void =>
    void found.push({ sign: null, before: null, after: null, text });
  const at = { before: 0, after: 0 };
  const left = { before: 0, after: 0 };
  for (const line of diff.split("\n")) {
    const sign = SIGNS.find((each) => line.startsWith(each)) ?? null;
    if (sign !== null && left.before + left.after > 0) {
      const isOld = sign !== "+";
      const isNew = sign !== "-";
      found.push({
        sign,
        before: isOld ? at.before : null,
        after: isNew ? at.after : null,
        text: line.slice(1),
      });
      at.before += isOld ? 1 : 0;
      left.before -= isOld ? 1 : 0;
      at.after += isNew ? 1 : 0;
      left.after -= isNew ? 1 : 0;
      continue;
    }
    const part = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (part !== null) {
      const [, from, removed = 1, to, added = 1] = part;
      [at.before, left.before] = [Number(from), Number(removed)];
      [at.after, left.after] = [Number(to), Number(added)];
      if (keepsAll) {
        note(line);
      } else if (found.length > 0) {
        note("⋮");
      }
    } else if (keepsAll || (line !== "" && (found.length > 0 || !/^(?:---|\+\+\+) /.test(line)))) {
      note(line);
    }
  }
  return found;
}

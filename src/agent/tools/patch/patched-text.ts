import type { Edited } from "../edited-text.ts";
import type { Hunk } from "./parse-patch.ts";

/** Characters of lines that are compared: more would block the process for over about 0.2 s. */
const MAX_COMPARED = 50_000_000;

/** A text as the lines that a patch names, without their ends, and as it is. */
interface Lines {
  readonly plain: readonly string[];
  readonly raw: readonly string[];
  /** What ends most of its lines. */
  readonly end: "\n" | "\r\n";
}

/**
 * The text after all hunks of a file, in their order. Each has to be found exactly, and at one place only unless
 * its headers say where. Line ends, the byte order mark and a missing line end of the last line are kept.
 */
export function patchedText(before: string, hunks: readonly Hunk[]): Edited {
  const mark = before.startsWith("\uFEFF") ? "\uFEFF" : "";
  const lines = linesOf(before.slice(mark.length));
  const find = createFinder(lines.plain);
  const after: string[] = [];
  let done = 0;
  for (const [index, hunk] of hunks.entries()) {
    const place = find(hunk, done);
    if (typeof place === "string") {
      return { refused: `part ${index + 1} of the patch: ${place}` };
    }
    after.push(...lines.raw.slice(done, place));
    done = place;
    for (const { mark, text } of hunk.lines) {
      if (mark === "+") {
        after.push(text + lines.end);
      } else {
        after.push(...(mark === " " ? [lines.raw[done] ?? ""] : []));
        done += 1;
      }
    }
  }
  after.push(...lines.raw.slice(done));
  const text = mark + joined(after, lines);
  return text === before
    ? { refused: "the patch changes nothing" }
    : { refused: null, after: text, count: hunks.length };
}

function linesOf(text: string): Lines {
  const raw = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const ended = raw.filter((line) => line.endsWith("\n"));
  const windows = ended.filter((line) => line.endsWith("\r\n")).length;
  return {
    raw,
    plain: raw.map((line) => line.replace(/\r?\n$/, "")),
    end: windows * 2 > ended.length ? "\r\n" : "\n",
  };
}

/** Only the last line may have no end, and it has none if the one before had none. */
function joined(after: readonly string[], { raw, end }: Lines): string {
  const isOpen = raw.at(-1)?.endsWith("\n") === false;
  return after
    .map((line, index) => {
      if (index === after.length - 1) {
        return isOpen ? line.replace(/\r?\n$/, "") : line;
      }
      return line.endsWith("\n") ? line : line + end;
    })
    .join("");
}

/** Finds where a hunk begins, from a line on; a sentence if it is not there. */
function createFinder(plain: readonly string[]) {
  let compared = 0;
  const isAt = (wanted: readonly string[], at: number): boolean =>
    wanted.every((text, index) => {
      const line = plain[at + index];
      const isSame = line === text;
      compared += isSame ? text.length + 1 : 1;
      return isSame;
    });
  const next = (wanted: readonly string[], from: number): number | null => {
    for (let at = from; at + wanted.length <= plain.length; at += 1) {
      if (compared > MAX_COMPARED || isAt(wanted, at)) {
        return at;
      }
    }
    return null;
  };
  return ({ headers, lines, atEnd }: Hunk, done: number): number | string => {
    let from = done;
    for (const header of headers) {
      const at = plain.findIndex((line, index) => index >= from && line.trim() === header);
      if (at === -1) {
        return `the line after @@ is not in the file, or not after the part before`;
      }
      from = at + 1;
    }
    const wanted = lines.filter(({ mark }) => mark !== "+").map(({ text }) => text);
    if (atEnd) {
      const at = plain.length - wanted.length;
      return at >= from && isAt(wanted, at) ? at : "these lines are not at the end of the file";
    }
    if (wanted.length === 0) {
      return headers.length > 0 || plain.length === 0
        ? from
        : "it only adds lines: say where, by a line of the file before or after them";
    }
    const at = next(wanted, from);
    const again = at === null || headers.length > 0 ? null : next(wanted, at + 1);
    if (compared > MAX_COMPARED) {
      return "finding these lines takes too long; split the patch";
    }
    if (at === null) {
      return "its lines are not in the file, or not after the part before; read the file again and copy them exactly";
    }
    return again === null
      ? at
      : "its lines are at several places; add lines around them, or name a line before them after @@";
  };
}

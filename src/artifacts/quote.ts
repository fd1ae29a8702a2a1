import { visibleJson } from "../core/visible.ts";

const LONGEST = 60;

/** A name from a file, quoted for a sentence: printable, and cut after 60 characters. */
export function quote(name: string): string {
  // One code point is two units at most, so a name of megabytes is never spread out.
  const start = Array.from(name.slice(0, 2 * LONGEST + 2));
  const cut = start.length > LONGEST;
  return visibleJson(JSON.stringify(cut ? `${start.slice(0, LONGEST).join("")}…` : name));
}

/** Text from outside on one line, with everything a terminal would act on as `\uXXXX`. */
export function escaped(text: string): string {
  return visibleJson(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"'));
}

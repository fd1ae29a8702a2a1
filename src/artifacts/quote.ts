const LONGEST = 60;

/** What a terminal would act on or hide: DEL and C1 controls, direction marks, odd line ends. */
const UNPRINTABLE = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** A name from a file, quoted for a sentence: printable, and cut after 60 characters. */
export function quote(name: string): string {
  // One code point is two units at most, so a name of megabytes is never spread out.
  const start = Array.from(name.slice(0, 2 * LONGEST + 2));
  const cut = start.length > LONGEST;
  return escapeUnprintable(JSON.stringify(cut ? `${start.slice(0, LONGEST).join("")}…` : name));
}

/** Text from outside on one line, with everything a terminal would act on as `\uXXXX`. */
export function printable(text: string): string {
  return escapeUnprintable(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"'));
}

function escapeUnprintable(json: string): string {
  return json.replace(
    UNPRINTABLE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

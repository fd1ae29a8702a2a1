const DEPENDS = /\bdepends on((?:[\s,&+–-]|\band\b|T-?\d+[a-z]?)+)/gi;
const RANGE = /(T-?\d+[a-z]?)(?:\s*[–-]\s*(T-?\d+))?/gi;

/** Ids that one task may name, and that one range may have. */
const MAX_NAMES = 1000;

/** Returns the ids of tasks that a text names after `depends on`; each of a range such as `T001-T003`. */
export function namesIn(text: string): Set<string> {
  const names = new Set<string>();
  let left = MAX_NAMES;
  for (const [, list = ""] of text.matchAll(DEPENDS)) {
    for (const [, from = "", to] of list.matchAll(RANGE)) {
      for (const name of left > 0 ? rangeOf(from, to) : []) {
        names.add(name);
        left -= 1;
      }
    }
  }
  return names;
}

function rangeOf(from: string, to: string | undefined): string[] {
  const first = from.toUpperCase().replace(/[A-Z]$/, (letter) => letter.toLowerCase());
  const [low, high] = [first, to ?? first].map((id) => Number(/\d+/.exec(id)?.[0]));
  if (to === undefined || low === undefined || high === undefined || high - low > MAX_NAMES) {
    return [first];
  }
  const digits = (/\d+/.exec(first)?.[0] ?? "").length;
  return Array.from(
    { length: Math.max(1, high - low + 1) },
    (_, at) => `T${String(low + at).padStart(digits, "0")}`,
  );
}

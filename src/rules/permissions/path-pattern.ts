/**
 * Matches a path, name by name, with a pattern as `CallPattern` has them; `keyOf` says which names are the same. Takes a
 * time of at most the product of the numbers of names.
 */
export function isMatch(pattern: string, path: string, keyOf: (name: string) => string): boolean {
  const names = path.split("/").map(keyOf);
  // which beginnings of the path the pattern's names so far match
  let reached = new Set([0]);
  for (const part of pattern.split("/")) {
    const next = new Set<number>();
    for (const at of reached) {
      if (part === "**") {
        for (let after = at; after <= names.length; after += 1) {
          next.add(after);
        }
      } else if (at < names.length && isNameMatch(keyOf(part), names[at] ?? "")) {
        next.add(at + 1);
      }
    }
    reached = next;
  }
  return reached.has(names.length);
}

/** Compares a name with a name of a pattern; also without regular expressions, whose time has no limit. */
function isNameMatch(pattern: string, name: string): boolean {
  const parts = [...pattern.matchAll(/\\(.)|[^]/gsu)].map(([part, plain]) =>
    plain === undefined
      ? { text: part, isAny: part === "*", isOne: part === "?" }
      : { text: plain, isAny: false, isOne: false },
  );
  const characters = Array.from(name);
  let reached = new Set([0]);
  for (const { text, isAny, isOne } of parts) {
    const next = new Set<number>();
    const first = Math.min(...reached);
    if (isAny && reached.size > 0) {
      for (let after = first; after <= characters.length; after += 1) {
        next.add(after);
      }
    } else {
      for (const at of reached) {
        if (at < characters.length && (isOne || characters[at] === text)) {
          next.add(at + 1);
        }
      }
    }
    reached = next;
  }
  return reached.has(characters.length);
}

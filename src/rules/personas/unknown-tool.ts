import { createNearestName } from "../../core/text/nearest-name.ts";
import { oneLine } from "../../core/text/terminal-text.ts";

const MAX_SHOWN = 64;

/** A name from a file for a sentence, cut and cleaned, with the nearest known one if there is one. */
export function quotedName(name: string, known: readonly string[]): string {
  const clean = oneLine(name);
  const shown = clean.length > MAX_SHOWN ? `${clean.slice(0, MAX_SHOWN)}…` : clean;
  const nearest = createNearestName(known)(name);
  return nearest === undefined ? `"${shown}"` : `"${shown}" (did you mean ${nearest}?)`;
}

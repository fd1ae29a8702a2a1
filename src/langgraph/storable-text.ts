/**
 * Text as both engines can keep it and give it back: without NUL, and with U+FFFD for each lone
 * surrogate. A model may answer with either, and an answer must not be lost for it. Applied to the
 * stored body of a message and to its mirror row alike, so that the two stay equal; what a client
 * sends is refused at the edge instead (`core/text.ts`).
 */
export function storableText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", "") : whole;
}

/** For JSON.stringify: makes every text of a value storable. */
export function storableReplacer(_key: string, value: unknown): unknown {
  return typeof value === "string" ? storableText(value) : value;
}

/**
 * Text as a terminal may show it: line feeds and tabs stay, carriage returns go, every other control
 * character and the marks that turn the writing direction become U+FFFD. An answer, a tool's result
 * or a title could otherwise move the cursor, change colours or hide what it says.
 */
export function printable(text: string): string {
  return text
    .replaceAll("\r", "")
    .replace(/(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}

/** What went wrong, as a sentence for the reader. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : "Something failed. Reload the page.";
}

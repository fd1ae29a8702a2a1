/** Larger texts are not compared, in characters. */
const MAX_COMPARED = 1024 * 1024;
/** Lines of both texts together. */
const MAX_COMPARED_LINES = 100_000;
/** Lines that differ at most. */
const MAX_DIFFERENT_LINES = 1000;
/** Lines times those that differ: comparing blocks the process, here for about 0.1 s. */
const MAX_STEPS = 20_000_000;
/** Characters of a diff that are shown. */
const MAX_SHOWN = 14_000;

export interface ComparedTexts {
  readonly names: readonly [before: string, after: string];
  readonly before: string;
  readonly after: string;
}

/** The unified diff of two texts; null if they are too large or too different to be compared. */
export async function textDiff({ names, before, after }: ComparedTexts): Promise<string | null> {
  const maxEditLength = mostDifferent(before, after);
  if (maxEditLength === 0) {
    return null;
  }
  const { createTwoFilesPatch, FILE_HEADERS_ONLY: headerOptions } = await import("diff");
  const options = { context: 3, maxEditLength, headerOptions };
  return createTwoFilesPatch(...names, before, after, "", "", options) ?? null;
}

/** The diff of a text that was not there before, as far as it is shown. */
export async function addedText(name: string, after: string): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY: headerOptions } = await import("diff");
  const begins = after.slice(0, MAX_SHOWN).toWellFormed();
  return createTwoFilesPatch("/dev/null", name, "", begins, "", "", { headerOptions });
}

/** How many lines may differ for the texts to be compared; 0 if they are not compared. */
function mostDifferent(before: string, after: string): number {
  if (Math.max(before.length, after.length) > MAX_COMPARED) {
    return 0;
  }
  const lines = before.split("\n").length + after.split("\n").length;
  return lines > MAX_COMPARED_LINES
    ? 0
    : Math.min(MAX_DIFFERENT_LINES, Math.floor(MAX_STEPS / lines));
}

/** Cuts a diff. `all` is the text of which only the beginning may be in what is shown. */
export function shortenedDiff(text: string, all = ""): string {
  const end = text.lastIndexOf("\n", MAX_SHOWN);
  const cut = text.length > MAX_SHOWN ? text.slice(0, end === -1 ? MAX_SHOWN : end) : text;
  const left = Math.max(text.length - cut.length, all.length - MAX_SHOWN);
  return left > 0
    ? `${cut.toWellFormed()}\n… ${left} more characters of the change are not shown`
    : text;
}

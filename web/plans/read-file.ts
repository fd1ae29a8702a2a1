import type { Draft } from "./draft.ts";

/** As much as the service takes. */
const MAX_BYTES = 1_048_576;

/** The text of a file that was dropped or chosen, or a sentence that says why it cannot be read. */
export async function readPlanFile(files: readonly File[]): Promise<Draft | string> {
  const [file, ...others] = files;
  if (file === undefined) {
    return "That is not a file. Drop a file of a plan, or paste its text.";
  }
  if (others.length > 0) {
    return `These are ${files.length} files. Choose one.`;
  }
  if (file.size > MAX_BYTES) {
    return "The file is larger than 1 MiB. Check it with `reprise plan validate`.";
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return { text, name: file.name };
  } catch (error) {
    return error instanceof TypeError
      ? "The file is not text in UTF-8. Save it as UTF-8 and choose it again."
      : "The file cannot be read. Check that it still exists and that you may read it.";
  }
}

/** A text after a change, or why it cannot be changed. */
export type Edited =
  | {
      readonly refused: null;
      readonly after: string;
      /** Places that changed. */
      readonly count: number;
    }
  | { readonly refused: string };

export interface TextEdit {
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all: boolean;
}

/** Characters: replacing every occurrence can make a text of any length. */
const MAX_AFTER = 20_000_000;

/** Replaces a text that occurs exactly once, or every occurrence. Line ends of the text before are kept. */
export function editedText(before: string, edit: TextEdit): Edited {
  const { oldText, newText } = withLineEnds(before, edit);
  if (oldText === "" || oldText === newText) {
    return { refused: "old_text must not be empty and must differ from new_text" };
  }
  const parts = before.split(oldText);
  const count = parts.length - 1;
  if (count === 0) {
    return {
      refused: "old_text is not in the file; read it again and copy the text exactly",
    };
  }
  if (count > 1 && !edit.replace_all) {
    return {
      refused: `old_text occurs ${count} times; add lines around it, or set replace_all`,
    };
  }
  if (before.length + count * (newText.length - oldText.length) > MAX_AFTER) {
    return { refused: "the file would become over 20 million characters long" };
  }
  return { refused: null, after: parts.join(newText), count };
}

/** Models write LF; in a file of CR LF the same lines are meant. */
function withLineEnds(content: string, edit: TextEdit): { oldText: string; newText: string } {
  const { old_text: oldText, new_text: newText } = edit;
  if (content.includes(oldText) || !content.includes("\r\n")) {
    return { oldText, newText };
  }
  const convert = (text: string) => text.replace(/\r?\n/g, "\r\n");
  return { oldText: convert(oldText), newText: convert(newText) };
}

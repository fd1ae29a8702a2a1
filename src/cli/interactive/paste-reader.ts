const START = "\u001b[200~";
const END = "\u001b[201~";

/** Milliseconds after an end mark in which another one makes what lies between them pasted too. */
const SETTLE_MS = 50;

/** Milliseconds without anything from the terminal after which a paste is taken to have lost its end. */
const UNENDED_MS = 1000;

/** Ctrl-C and Ctrl-D and nothing else: nobody can paste without a mark at its end. */
// oxlint-disable-next-line no-control-regex -- these are the keys
const LEAVING_KEYS = /^[\u0003\u0004]+$/;

/**
 * Splits what a terminal sends into typed keys and pastes, in order.
 *
 *   typing --ESC[200~--> pasting --ESC[201~--> waiting --SETTLE_MS--> typing
 *                           ^                     |
 *                           +------ESC[201~-------+   text that holds an end mark itself
 *
 * If no end mark comes, `unended` is called once, and Ctrl-C or Ctrl-D typed alone drops the paste.
 */
export function createPasteReader(
  on: {
    keys(text: string): void;
    paste(text: string): void;
    unended(): void;
  },
  unendedMs = UNENDED_MS,
) {
  let state: "typing" | "pasting" | "settling" = "typing";
  let pasted = "";
  let unread = "";
  let settling: NodeJS.Timeout | undefined;
  let unended: NodeJS.Timeout | undefined;
  let isReported = false;

  const finishPaste = (): void => {
    const text = pasted;
    pasted = "";
    state = "typing";
    on.paste(text);
  };
  const settle = (): void => {
    finishPaste();
    advance();
    watchEnd();
  };
  const readKeys = (): boolean => {
    const start = unread.indexOf(START);
    const end = start === -1 ? unread.length - tornMark(unread, START) : start;
    const keys = unread.slice(0, end);
    unread = unread.slice(start === -1 ? end : start + START.length);
    state = start === -1 ? "typing" : "pasting";
    isReported = false;
    if (keys !== "") {
      on.keys(keys);
    }
    return start !== -1;
  };
  const readPaste = (): boolean => {
    const end = unread.indexOf(END);
    const taken = end === -1 ? unread.length - tornMark(unread, END) : end;
    pasted += unread.slice(0, taken);
    unread = unread.slice(end === -1 ? taken : end + END.length);
    state = end === -1 ? "pasting" : "settling";
    return end !== -1;
  };
  const readAfterEnd = (): boolean => {
    const end = unread.indexOf(END);
    const start = unread.indexOf(START);
    if (end !== -1 && (start === -1 || end < start)) {
      state = "pasting";
      return true;
    }
    if (start !== -1) {
      finishPaste();
      return true;
    }
    clearTimeout(settling);
    settling = setTimeout(settle, SETTLE_MS);
    return false;
  };
  const steps = { typing: readKeys, pasting: readPaste, settling: readAfterEnd };
  const advance = (): void => {
    while (steps[state]()) {
      // until the text is used up
    }
  };

  const watchEnd = (): void => {
    clearTimeout(unended);
    if (state === "pasting" && !isReported) {
      unended = setTimeout(() => {
        isReported = true;
        on.unended();
      }, unendedMs);
    }
  };

  return {
    /** Takes what the terminal sent; a mark may be torn over several calls. */
    read: (text: string): void => {
      clearTimeout(settling);
      if (state === "pasting" && LEAVING_KEYS.test(text)) {
        state = "typing";
        pasted = "";
        unread = "";
      }
      unread += text;
      advance();
      watchEnd();
    },
    /** Whether a paste has begun and its end mark has not come. */
    pasting: (): boolean => state !== "typing",
    close: (): void => {
      clearTimeout(settling);
      clearTimeout(unended);
    },
  };
}

/** How many characters at the end of the text may be the beginning of a mark. */
function tornMark(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (mark.startsWith(text.slice(-length))) {
      return length;
    }
  }
  return 0;
}

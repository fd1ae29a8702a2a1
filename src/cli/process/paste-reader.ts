const START = "\u001b[200~";
const END = "\u001b[201~";

/** Milliseconds after an end mark in which another one makes the text between them pasted too. */
const END_MARK_GRACE_MS = 50;

/** Milliseconds without input after which a paste is considered to have lost its end mark. */
const UNENDED_MS = 1000;

/** Milliseconds after which an escape character that was typed is a key, and not the beginning of a mark. */
const ESCAPE_MS = 50;

/** Ctrl-C and Ctrl-D typed alone, in both forms of keys: they drop a paste whose end mark is missing. */
// oxlint-disable-next-line no-control-regex -- these are the keys
const LEAVING_KEYS = /^(?:[\u0003\u0004]|\u001b\[(?:\d+::)?(?:99|100);\d+u)+$/;

/**
 * Splits what a terminal sends into typed keys and pastes, in order.
 *
 *   typing --ESC[200~--> pasting --ESC[201~--> waiting --END_MARK_GRACE_MS--> typing
 *                           ^                     |
 *                           +------ESC[201~-------+   text that holds an end mark itself
 *
 * With `readsEscape`, an escape character that nothing follows is a key. If no end mark comes, `unended` is called once, and Ctrl-C or Ctrl-D typed alone drops the paste.
 */
export function createPasteReader(
  on: {
    keys(text: string): void;
    paste(text: string): void;
    unended(): void;
  },
  {
    unendedMs = UNENDED_MS,
    readsEscape = false,
  }: { readonly unendedMs?: number; readonly readsEscape?: boolean } = {},
) {
  let state: "typing" | "pasting" | "waiting" = "typing";
  let pasted = "";
  let unread = "";
  let endTimer: NodeJS.Timeout | undefined;
  let unended: NodeJS.Timeout | undefined;
  let escapeTimer: NodeJS.Timeout | undefined;
  let isReported = false;

  const finishPaste = (): void => {
    const text = pasted;
    pasted = "";
    state = "typing";
    on.paste(text);
  };
  const finish = (): void => {
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
    state = end === -1 ? "pasting" : "waiting";
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
    clearTimeout(endTimer);
    endTimer = setTimeout(finish, END_MARK_GRACE_MS);
    return false;
  };
  const steps = { typing: readKeys, pasting: readPaste, waiting: readAfterEnd };
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

  const watchEscape = (): void => {
    if (readsEscape && state === "typing" && unread === "\u001b") {
      escapeTimer = setTimeout(() => {
        unread = "";
        on.keys("\u001b");
      }, ESCAPE_MS);
    }
  };

  return {
    /** Takes what the terminal sent; a mark may be torn over several calls. */
    read: (text: string): void => {
      clearTimeout(endTimer);
      clearTimeout(escapeTimer);
      if (state === "pasting" && LEAVING_KEYS.test(text)) {
        state = "typing";
        pasted = "";
        unread = "";
      }
      unread += text;
      advance();
      watchEnd();
      watchEscape();
    },
    /** Whether a paste has begun and its end mark has not come. */
    pasting: (): boolean => state !== "typing",
    close: (): void => {
      clearTimeout(endTimer);
      clearTimeout(escapeTimer);
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

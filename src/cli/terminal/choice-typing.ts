import { characterOf, createChoiceKeys } from "./choice-keys.ts";
import type { Editor } from "./editor.ts";
import { createKeyGuard, type GuardScreen, QUIET_MS } from "./key-guard.ts";
import type { KeyedChoice } from "./question-choices.ts";

/** What choices need of the screen that shows them. */
export interface ChoiceScreen extends GuardScreen {
  /** Calls it after so many milliseconds, unless what is returned is called first. */
  after(ms: number, act: () => void): () => void;
  /** The editor of the conversation: it gets what is typed that does not answer. */
  readonly message: Pick<Editor, "rows" | "key" | "isEmpty">;
}

interface TypingOptions {
  readonly screen: ChoiceScreen;
  readonly choices: readonly KeyedChoice[];
  readonly choose: (at: number) => void;
  /** Shows all that is asked; null if `o` is a character as each other. */
  readonly read: (() => void) | null;
  /** Enter without a choice. */
  readonly empty: () => void;
  /** A text was begun. */
  readonly wrote: () => void;
}

/**
 * Keys at choices. The key of a choice marks it; it counts when nothing follows it for half a second, or with Enter,
 * which alone confirms a lasting choice. With another character after it, it is the beginning of a text.
 */
export function createChoiceTyping(options: TypingOptions) {
  const { screen, choices, choose } = options;
  const keys = createChoiceKeys(choices.map(({ key }) => key));
  /** Armed once the terminal shows the mark: Enter in the same paste confirms nothing. */
  const shown = createKeyGuard(screen);
  let typed: string[] = [];
  let lastKey = -Infinity;
  let callOff = (): void => undefined;
  let isWriting = false;

  const drop = (): void => {
    callOff();
    callOff = () => undefined;
    typed = [];
  };
  const write = (data: string): void => {
    const text = [...typed, data];
    drop();
    keys.unmark();
    isWriting = true;
    for (const key of text) {
      screen.message.key(key);
    }
    options.wrote();
  };
  const hold = (data: string, act: (() => void) | null): void => {
    callOff();
    typed.push(data);
    lastKey = screen.now();
    shown.reset();
    if (act !== null) {
      callOff = screen.after(QUIET_MS, () => {
        drop();
        keys.unmark();
        act();
        screen.changed();
      });
    }
  };
  const character = (data: string, typedCharacter: string): void => {
    const isDigits = keys.isMany && /^\d$/.test(typedCharacter);
    if (typed.length > 0 && !isDigits && screen.now() - lastKey < QUIET_MS) {
      write(data);
      return;
    }
    if (options.read !== null && typedCharacter === "o") {
      hold(data, options.read);
      return;
    }
    const step = keys.key(data);
    if (step.kind === "unknown") {
      write(data);
      return;
    }
    if (!isDigits) {
      drop();
    }
    if (step.kind === "chosen") {
      keys.mark(step.at);
      hold(data, choices[step.at]?.isLasting === true ? null : () => choose(step.at));
    } else {
      hold(data, null);
    }
  };

  return {
    marked: keys.marked,
    /** What is typed is a message, until it is sent or Esc. */
    isWriting: (): boolean => isWriting && !screen.message.isEmpty(),
    /** A character went into the message while no key counted. */
    continued: (): void => {
      isWriting = true;
    },
    drawn: shown.drawn,
    armed: shown.armed,
    /** Back to the choices, none of which is marked; false if that is so already. */
    back: (): boolean => {
      const wasWriting = isWriting && !screen.message.isEmpty();
      const wasMarked = keys.marked() !== null || typed.length > 0;
      drop();
      keys.unmark();
      isWriting = false;
      return wasWriting || wasMarked;
    },
    /** False for a key of somebody else. */
    key: (data: string): boolean => {
      const typedCharacter = characterOf(data);
      if (typedCharacter !== null) {
        character(data, typedCharacter);
        return true;
      }
      const step = keys.key(data);
      if (step.kind === "chosen" && shown.isArmed()) {
        drop();
        keys.unmark();
        choose(step.at);
      } else if (step.kind === "empty") {
        options.empty();
      } else if (step.kind === "moved") {
        drop();
        shown.reset();
      }
      return step.kind !== "none";
    },
  };
}

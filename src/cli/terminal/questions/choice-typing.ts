import { characterOf, createChoiceKeys } from "./choice-keys.ts";
import type { Editor } from "../editor/editor.ts";
import { createKeyGuard, type GuardScreen, QUIET_MS } from "./key-guard.ts";
import type { KeyedChoice } from "./question-choices.ts";

/** Parts of the screen that choices need. */
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
  /** False for a choice that cannot be chosen yet, after it has said why. */
  readonly mayChoose: (at: number) => boolean;
  /** Shows all that is asked; null if `o` is a character as each other. */
  readonly read: (() => void) | null;
  /** Enter without a choice. */
  readonly empty: () => void;
  /** A text was begun. */
  readonly wrote: () => void;
}

/**
 * Keys at choices. The key of a choice marks it, and Enter chooses it. No pause replaces Enter: a person may stop in a
 * word, and a slow connection does. A choice that allows nothing, and `o`, count without Enter when nothing follows
 * them for half a second. Another character after a key makes both the beginning of a text.
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

  const isPaused = (): boolean => screen.now() - lastKey >= QUIET_MS;
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
  /** Keeps a key in case that a text begins with it; without one, it acts after a pause. */
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
  const isSafe = (character: string): boolean =>
    choices.some((choice) => choice.isSafe && choice.key === character.toLowerCase());
  const isForPager = (character: string): boolean => options.read !== null && character === "o";
  /** Whether a character continues what was typed, so that all of it is a text. */
  const continues = (character: string): boolean => {
    const isNumber = keys.isMany && /^\d$/.test(character);
    if (typed.length === 0 || isNumber || (keys.marked() === null && isForPager(character))) {
      return false;
    }
    return !isPaused() || (keys.marked() !== null && !isSafe(character));
  };
  const mark = (data: string, at: number): void => {
    if (options.mayChoose(at)) {
      keys.mark(at);
    }
    hold(data, choices[at]?.isSafe === true ? () => choose(at) : null);
  };
  const character = (data: string, typedCharacter: string): void => {
    if (continues(typedCharacter)) {
      write(data);
      return;
    }
    if (keys.marked() === null && isPaused()) {
      drop();
    }
    if (isForPager(typedCharacter)) {
      hold(data, options.read);
      return;
    }
    const step = keys.key(data);
    if (step.kind === "unknown") {
      write(data);
    } else if (step.kind === "chosen") {
      mark(data, step.at);
    } else {
      hold(data, null);
    }
  };

  const isMessage = (): boolean => isWriting && !screen.message.isEmpty();
  return {
    marked: keys.marked,
    /**
     * Says what the next key is for: a choice, or `message` until that is sent or Esc. `marked`: Enter chooses it;
     * `mark`: the terminal does not show yet which.
     */
    takes: (): "choice" | "mark" | "marked" | "message" => {
      if (isMessage()) {
        return "message";
      }
      return keys.marked() === null ? "choice" : shown.isArmed() ? "marked" : "mark";
    },
    isWriting: isMessage,
    /** A character went into the message while no key counted. */
    continued: (): void => {
      isWriting = true;
    },
    drawn: shown.drawn,
    armed: shown.armed,
    /** Back to the choices, none of which is marked; false if that is so already. */
    back: (): boolean => {
      const wasWriting = isMessage();
      const wasMarked = keys.marked() !== null || (typed.length > 0 && !isPaused());
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
        if (options.mayChoose(step.at)) {
          choose(step.at);
        }
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

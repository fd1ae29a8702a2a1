import { PERMISSION_ANSWERS } from "../../core/permissions.ts";
import type { GivenAnswer } from "../question-lines.ts";
import { problemOf } from "./answer-problem.ts";
import { characterOf, createChoiceKeys } from "./choice-keys.ts";
import type { Editor, EditorOptions, Message } from "./editor.ts";
import { createKeyGuard, type GuardScreen } from "./key-guard.ts";
import type { LiveView } from "./live-view.ts";
import { isKeyRelease, matchesKey } from "./pi/keys.ts";
import { keyedChoices } from "./question-choices.ts";
import { shownKeys } from "./question-keys.ts";
import { answeredRows, liveRows, type QuestionPlace } from "./question-layout.ts";
import { committedRows, questionRows, type ShownQuestion } from "./question-text.ts";
import type { Screen } from "./screen.ts";
import type { Theme } from "./theme.ts";

/** What a question needs of the screen that shows it. */
export interface QuestionScreen
  extends Pick<Screen, "width" | "height" | "commit" | "changed">, GuardScreen {
  readonly theme: Theme;
  /** Shows rows until the person leaves them. `seenAll`: the end was on the screen. */
  openPager(title: string, rows: readonly string[]): Promise<{ readonly seenAll: boolean }>;
  /** The editor of the conversation, without its history and completion. */
  openEditor(on: EditorOptions["on"]): Editor;
}

export interface QuestionViewOptions {
  readonly screen: QuestionScreen;
  readonly question: ShownQuestion;
  /** Those of the question and those that the terminal adds; null for any text. */
  readonly choices: readonly string[] | null;
  readonly place: QuestionPlace;
  /** The folder of the session; null if it has none. */
  readonly folder: string | null;
  /** What was typed as an answer before the question stayed open. */
  readonly draft?: Message | undefined;
}

/** `later`: the question stays open. `next`: another one first. `over`: it has ended elsewhere. */
export type QuestionOutcome = GivenAnswer | "later" | "next" | "over";

export interface QuestionView extends LiveView {
  /** Shows the question until it has an outcome; the first time all of it goes into the scrollback. */
  ask(over: AbortSignal): Promise<QuestionOutcome>;
  /** What is typed as an answer and not sent; null for nothing. */
  draft(): Message | null;
}

/** A question on the screen. Keys typed before it was shown, or while a person is still typing, never answer it. */
export function createQuestionView(options: QuestionViewOptions): QuestionView {
  return new ShownQuestionView(options);
}

class ShownQuestionView implements QuestionView {
  readonly #options: QuestionViewOptions;
  readonly #guard;
  readonly #choices;
  readonly #keys;
  /** For a text, or for the reason of a no; null while there are choices. */
  #editor: Editor | null = null;
  /** Keeps a reason while the choices are shown again. */
  #reason: Editor | null = null;
  #finish: ((outcome: QuestionOutcome) => void) | null = null;
  #isCommitted = false;
  #hasSeenAll = false;
  #isReading = false;
  #hint: string | null = null;

  constructor(options: QuestionViewOptions) {
    const { screen, question, choices } = options;
    this.#options = options;
    this.#guard = createKeyGuard(screen);
    this.#choices = keyedChoices(question.kind, choices ?? []);
    this.#keys = createChoiceKeys(this.#choices.map(({ key }) => key));
  }

  ask(over: AbortSignal): Promise<QuestionOutcome> {
    const { promise, resolve } = Promise.withResolvers<QuestionOutcome>();
    this.#commit();
    this.#guard.reset();
    this.#hint = null;
    this.#finish = resolve;
    if (this.#takesText()) {
      this.#editor ??= this.#openEditor(this.#options.draft);
    }
    const onOver = (): void => this.#end("over");
    over.addEventListener("abort", onOver);
    if (over.aborted) {
      onOver();
    }
    this.#options.screen.changed();
    return promise.finally(() => over.removeEventListener("abort", onOver));
  }

  draft(): Message | null {
    return this.#editor === null || this.#editor.isEmpty() ? null : this.#editor.message();
  }

  armed(): void {
    this.#guard.armed();
  }

  hidden(): void {
    this.#guard.reset();
  }

  rows(width: number, height: number): readonly string[] {
    const { screen, question, place, folder } = this.#options;
    this.#guard.drawn();
    return liveRows(
      {
        theme: screen.theme,
        question,
        place,
        folder,
        choices: this.#choices,
        marked: this.#keys.marked(),
        editor: this.#editor,
        prompt: this.#isReason() ? "Deny. Why, for the agent (may stay empty):" : null,
        hint: this.#hint,
        keys: shownKeys({
          guard: this.#guard,
          takes: this.#isReason() ? "reason" : this.#takesText() ? "text" : "choice",
          hasSeenAll: this.#hasSeenAll,
          isOneOfMany: place.count > 1,
        }),
      },
      width,
      height,
    );
  }

  key(data: string): boolean {
    if (!this.#takesKeys()) {
      return false;
    }
    if (isKeyRelease(data)) {
      return true;
    }
    this.#hint = null;
    this.#options.screen.changed();
    if (matchesKey(data, "tab") && !this.#isReason()) {
      if (this.#options.place.count > 1) {
        this.#end("next");
      }
      return true;
    }
    if (matchesKey(data, "ctrl+o") || (this.#editor === null && characterOf(data) === "o")) {
      this.#read();
      return true;
    }
    return this.#editor === null ? this.#choiceKey(data) : this.#editorKey(this.#editor, data);
  }

  paste(text: string): boolean {
    if (!this.#takesKeys()) {
      return false;
    }
    if (this.#editor === null) {
      this.#say("Pasted text answers nothing: press the key of a choice.");
    } else {
      this.#hint = null;
      this.#editor.paste(text);
      this.#options.screen.changed();
    }
    return true;
  }

  #takesKeys(): boolean {
    return this.#finish !== null && !this.#isReading && this.#guard.isReady();
  }

  #takesText(): boolean {
    return this.#options.choices === null;
  }

  #isReason(): boolean {
    return this.#editor !== null && !this.#takesText();
  }

  #choiceKey(data: string): boolean {
    if (isBack(data)) {
      this.#end("later");
      return true;
    }
    const step = this.#keys.key(data);
    if (step.kind === "chosen") {
      this.#choose(step.at);
    } else if (step.kind === "unknown") {
      this.#guard.typed();
      this.#say("No choice has this key.");
    } else if (step.kind === "empty") {
      this.#say("Enter alone answers nothing: press the key of a choice.");
    }
    return step.kind !== "none";
  }

  #choose(at: number): void {
    const chosen = this.#choices[at];
    const { kind } = this.#options.question;
    if (chosen === undefined || (!chosen.isSafe && !this.#hasSeenAll)) {
      this.#say("Not all of it was shown: press o, and read to its end first.");
    } else if (kind === "permission" && chosen.text === PERMISSION_ANSWERS.no) {
      this.#reason ??= this.#openEditor();
      this.#editor = this.#reason;
    } else {
      this.#end({ text: chosen.text, note: null });
    }
  }

  #editorKey(editor: Editor, data: string): boolean {
    if (matchesKey(data, "enter") && editor.isEmpty()) {
      this.#submit(editor, editor.message());
      return true;
    }
    if (!isBack(data)) {
      return editor.key(data);
    }
    if (matchesKey(data, "ctrl+c") && !editor.isEmpty()) {
      editor.clear();
    } else if (this.#isReason()) {
      this.#editor = null;
    } else {
      this.#end("later");
    }
    return true;
  }

  #openEditor(draft?: Message): Editor {
    const editor = this.#options.screen.openEditor({
      submit: (message) => this.#submit(editor, message),
      note: (sentence) => this.#say(sentence),
    });
    if (draft !== undefined) {
      editor.set(draft);
    }
    return editor;
  }

  #submit(editor: Editor, message: Message): void {
    const { pasted } = message;
    const value = message.text.trim();
    const isReason = this.#isReason();
    const problem = problemOf(value, { isReason, pasted });
    if (problem !== null) {
      editor.set(message);
      this.#say(problem);
    } else if (isReason) {
      this.#end({ text: PERMISSION_ANSWERS.no, note: value === "" ? null : value });
    } else {
      this.#end({ text: value, note: null });
    }
  }

  #read(): void {
    const { screen, question } = this.#options;
    this.#isReading = true;
    void screen
      .openPager("What is asked", questionRows(question, screen))
      .then(({ seenAll }) => {
        this.#hasSeenAll ||= seenAll;
      })
      .catch(() => this.#say("The text cannot be shown; what was asked is above."))
      .finally(() => {
        this.#isReading = false;
        // what was typed for the pager answers nothing
        this.#guard.reset();
        screen.changed();
      });
  }

  #commit(): void {
    const { screen, question } = this.#options;
    if (!this.#isCommitted) {
      const { rows, isAll } = committedRows(questionRows(question, screen), screen.theme);
      screen.commit(["", ...rows]);
      this.#isCommitted = true;
      this.#hasSeenAll = isAll;
    }
  }

  #say(sentence: string): void {
    this.#hint = sentence;
    this.#options.screen.changed();
  }

  #end(outcome: QuestionOutcome): void {
    const { screen, question, place } = this.#options;
    const { theme, width } = screen;
    if (this.#finish !== null && typeof outcome === "object") {
      screen.commit(answeredRows(outcome, { question, place, theme, width }));
    }
    this.#finish?.(outcome);
    this.#finish = null;
  }
}

function isBack(data: string): boolean {
  return matchesKey(data, "escape") || matchesKey(data, "ctrl+c");
}

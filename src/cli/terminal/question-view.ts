import { PERMISSION_ANSWERS } from "../../core/permissions.ts";
import { problemOf } from "./answer-problem.ts";
import type { QuestionOutcome, QuestionView, QuestionViewOptions } from "./asked-question.ts";
import { characterOf } from "./choice-keys.ts";
import { createChoiceTyping } from "./choice-typing.ts";
import type { Editor, Message } from "./editor.ts";
import { createKeyGuard } from "./key-guard.ts";
import { isKeyRelease, matchesKey } from "./pi/keys.ts";
import { keyedChoices } from "./question-choices.ts";
import { shownKeys } from "./question-keys.ts";
import { answeredRows, liveRows } from "./question-layout.ts";
import { committedRows, questionRows, shownQuestion } from "./question-text.ts";

/** A question on the screen. Keys typed before it was shown, or while a person is still typing, never answer it. */
export function createQuestionView(options: QuestionViewOptions): QuestionView {
  return new ShownQuestionView(options);
}

class ShownQuestionView implements QuestionView {
  readonly #options: QuestionViewOptions;
  readonly #guard;
  readonly #choices;
  readonly #typing;
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
    const { screen, choices } = options;
    const question = shownQuestion(options.question);
    this.#options = { ...options, question };
    this.#guard = createKeyGuard(screen);
    this.#choices = keyedChoices(question.kind, choices ?? []);
    this.#typing = createChoiceTyping({
      screen,
      choices: this.#choices,
      choose: (at) => this.#choose(at),
      read: () => this.#read(),
      empty: () => this.#say("Enter alone answers nothing: press the key of a choice."),
      wrote: () => this.#guard.typed(),
    });
  }

  ask(over: AbortSignal): Promise<QuestionOutcome> {
    const { promise, resolve } = Promise.withResolvers<QuestionOutcome>();
    this.#commit();
    this.#guard.reset();
    this.#typing.back();
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
    this.#typing.armed();
  }

  hidden(): void {
    this.#guard.reset();
  }

  rows(width: number, height: number): readonly string[] {
    const { screen, question, place, folder } = this.#options;
    this.#guard.drawn();
    this.#typing.drawn();
    return liveRows(
      {
        theme: screen.theme,
        question,
        place,
        folder,
        choices: this.#choices,
        marked: this.#typing.marked(),
        message: this.#editor === null && !screen.message.isEmpty() ? screen.message : null,
        editor: this.#editor,
        prompt: this.#isReason() ? "Deny. Why, for the agent (may stay empty):" : null,
        hint: this.#hint,
        keys: shownKeys({
          guard: this.#guard,
          takes: this.#takes(),
          hasSeenAll: this.#hasSeenAll,
          isOneOfMany: place.count > 1,
        }),
      },
      width,
      height,
    );
  }

  key(data: string): boolean {
    if (this.#isWriting()) {
      return this.#messageKey(data);
    }
    if (!this.#takesKeys()) {
      if (this.#guard.isArmed() && !this.#isReading && characterOf(data) !== null) {
        // the rest of a sentence does not answer, after a pause neither
        this.#typing.continued();
      }
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
    if (matchesKey(data, "ctrl+o")) {
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
      this.#typing.back();
      this.#typing.continued();
      return false;
    }
    this.#hint = null;
    this.#editor.paste(text);
    this.#options.screen.changed();
    return true;
  }

  #takesKeys(): boolean {
    return this.#finish !== null && !this.#isReading && this.#guard.isReady();
  }

  /** What is typed goes to the conversation's editor, shown below the choices. */
  #isWriting(): boolean {
    return this.#finish !== null && this.#editor === null && this.#typing.isWriting();
  }

  #messageKey(data: string): boolean {
    const isLeft = matchesKey(data, "escape");
    if (isLeft) {
      this.#typing.back();
    }
    this.#options.screen.changed();
    return isLeft;
  }

  #takes(): Parameters<typeof shownKeys>[0]["takes"] {
    if (this.#editor !== null) {
      return this.#isReason() ? "reason" : "text";
    }
    if (this.#typing.isWriting()) {
      return "message";
    }
    return this.#typing.marked() === null ? "choice" : "marked";
  }

  #takesText(): boolean {
    return this.#options.choices === null;
  }

  #isReason(): boolean {
    return this.#editor !== null && !this.#takesText();
  }

  #choiceKey(data: string): boolean {
    if (isBack(data)) {
      if (!this.#typing.back()) {
        this.#end("later");
      }
      return true;
    }
    return this.#typing.key(data);
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
    this.#typing.back();
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
    this.#typing.back();
    this.#finish?.(outcome);
    this.#finish = null;
  }
}

function isBack(data: string): boolean {
  return matchesKey(data, "escape") || matchesKey(data, "ctrl+c");
}

import type { PermissionChoice } from "../../../core/questions.ts";
import { permissionLabel } from "../../../core/text/words.ts";
import { problemOf } from "./answer-problem.ts";
import type { QuestionOutcome, QuestionView, QuestionViewOptions } from "./asked-question.ts";
import { characterOf, isBack } from "./choice-keys.ts";
import { createChoiceTyping } from "./choice-typing.ts";
import type { Editor, Message } from "../editor/editor.ts";
import { createKeyGuard } from "./key-guard.ts";
import { isKeyRelease, matchesKey } from "../pi/keys.ts";
import { keyedChoices } from "./question-choices.ts";
import { shownKeys } from "./question-keys.ts";
import { answeredRows, type LiveQuestion } from "./question-layout.ts";
import { createQuestionReading } from "./question-reading.ts";

/** A question on the screen. Keys typed before it was shown, or while a person is still typing, never answer it. */
export function createQuestionView(options: QuestionViewOptions): QuestionView {
  return new ShownQuestionView(options);
}

/** The choice that takes a reason. */
const DENY: PermissionChoice = "deny";

class ShownQuestionView implements QuestionView {
  readonly #options: QuestionViewOptions;
  readonly #guard;
  readonly #choices;
  readonly #typing;
  readonly #reading;
  /** For a text, or for the reason of a no; null while there are choices. */
  #editor: Editor | null = null;
  /** Keeps a reason while the choices are shown again. */
  #reason: Editor | null = null;
  #finish: ((outcome: QuestionOutcome) => void) | null = null;
  #hint: string | null = null;
  /** Why the choice whose key was pressed last cannot be chosen yet. */
  #refused: string | null = null;

  constructor(options: QuestionViewOptions) {
    const { screen, choices } = options;
    const { question } = options;
    this.#options = options;
    this.#guard = createKeyGuard(screen);
    this.#reading = createQuestionReading(screen, question, options.page);
    this.#choices = keyedChoices(question.kind, choices ?? []);
    this.#typing = createChoiceTyping({
      screen,
      choices: this.#choices,
      choose: (at) => this.#choose(at),
      mayChoose: (at) => this.#choices[at]?.isSafe === true || this.#mayAnswer("o"),
      read: () => this.#read(),
      empty: () =>
        this.#say(this.#refused ?? "Press the key of a choice; Enter alone does nothing here."),
      wrote: () => this.#guard.typed(),
    });
  }

  ask(over: AbortSignal): Promise<QuestionOutcome> {
    const { promise, resolve } = Promise.withResolvers<QuestionOutcome>();
    this.#reading.commit();
    this.#guard.reset();
    this.#typing.back();
    this.#hint = null;
    this.#refused = null;
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
    if (this.#guard.isArmed()) {
      this.#reading.shown();
    }
  }

  hidden(): void {
    this.#reading.moved();
    this.#guard.reset();
  }

  rows(width: number, height: number): readonly string[] {
    this.#guard.drawn();
    this.#typing.drawn();
    return this.#reading.rows(this.#live(), width, height);
  }

  key(data: string): boolean {
    if (this.#isWriting()) {
      return this.#messageKey(data);
    }
    if (!this.#takesKeys()) {
      if (this.#guard.isArmed() && !this.#reading.isInPager() && characterOf(data) !== null) {
        // the rest of a sentence does not answer, after a pause neither
        this.#typing.continued();
      }
      return false;
    }
    if (isKeyRelease(data)) {
      return true;
    }
    this.#hint = null;
    if (!matchesKey(data, "enter")) {
      this.#refused = null;
    }
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

  #live(): LiveQuestion {
    const { screen, question, place, folder } = this.#options;
    const { theme, message } = screen;
    const isForMessage = this.#editor === null || this.#guard.isPausing();
    return {
      theme,
      question,
      place,
      folder,
      choices: this.#choices,
      marked: this.#typing.marked(),
      message: isForMessage && !message.isEmpty() ? message : null,
      editor: this.#editor,
      prompt: this.#isReason() ? "Deny. Why, for the agent (may stay empty):" : null,
      hint: this.#hint,
      keys: shownKeys({
        guard: this.#guard,
        takes: this.#takes(),
        hasSeenAll: this.#reading.hasSeenAll(),
        isOneOfMany: place.count > 1,
      }),
    };
  }

  #takesKeys(): boolean {
    return this.#finish !== null && !this.#reading.isInPager() && this.#guard.isReady();
  }

  /** True while what is typed goes to the conversation's editor, shown below the choices. */
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
    return this.#typing.takes();
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
    if (chosen?.id === DENY) {
      this.#reason ??= this.#openEditor();
      this.#editor = this.#reason;
    } else if (chosen !== undefined) {
      this.#end({ choice: chosen.id, text: chosen.text, note: null });
    }
  }

  /** Whether all of the question was seen; else says how to see it. */
  #mayAnswer(key: "o" | "Ctrl-O"): boolean {
    const hasSeenAll = this.#reading.hasSeenAll();
    if (!hasSeenAll) {
      this.#refused = `Not all of it was shown: press ${key}, and read to its end first.`;
      this.#say(this.#refused);
    }
    return hasSeenAll;
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
    const value = message.text.trim();
    const isReason = this.#isReason();
    const problem = problemOf(value, { isReason, pasted: message.pasted });
    if (problem !== null) {
      editor.set(message);
      this.#say(problem);
    } else if (!isReason && !this.#mayAnswer("Ctrl-O")) {
      editor.set(message);
    } else if (isReason) {
      const note = value === "" ? null : value;
      this.#end({ choice: DENY, text: permissionLabel(DENY), note });
    } else {
      this.#end({ choice: null, text: value, note: null });
    }
  }

  #read(): void {
    this.#typing.back();
    void this.#reading
      .read()
      .catch(() => this.#say("The text cannot be shown; what was asked is above."))
      .finally(() => {
        // keys typed for the pager answer nothing
        this.#guard.reset();
        this.#options.screen.changed();
      });
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

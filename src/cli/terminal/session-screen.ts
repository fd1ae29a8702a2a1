import { oneLine } from "../../core/text/terminal-text.ts";
import type { Asked, ExchangeView, FollowView, PickModel, ShowDiff } from "../chat/front.ts";
import type { PickedRewind, RewindSource } from "../output/rewind-choices.ts";
import { isCommand } from "../chat/slash/slash.ts";
import { noticeLine } from "../process/context.ts";
import type { GivenAnswer } from "../output/question-lines.ts";
import { type Asking, createAsking } from "./questions/asking.ts";
import { createDetails, type Details } from "./rows/details.ts";
import type { Editor, Message } from "./editor/editor.ts";
import { createExchangeView, type ExchangeView as ExchangeRows } from "./rows/exchange-view.ts";
import { inHome } from "./text/in-home.ts";
import type { ScreenOptions } from "./screen-options.ts";
import { createMarkdownStream } from "./markdown.ts";
import { createHighlighter, type Highlighter } from "./markdown/highlight.ts";
import { openAnswerEditor, openEditor, type OpenedEditor } from "./editor/open-editor.ts";
import type { OwnedScreen, ScreenHandler } from "./screen/open-screen.ts";
import { createPersonCommand, type PersonCommand } from "./rows/person-command.ts";
import { keyRows, KEYS_SIGN } from "./editor/key-rows.ts";
import { diffPages } from "./rows/change-rows.ts";
import { createModelPicker } from "./picker/model-picker.ts";
import { createPicker } from "./picker/picker.ts";
import { createRewindPicker } from "./picker/rewind-picker.ts";
import { createPager, type PagerResult } from "./screen/pager.ts";
import { matchesKey, parseKey } from "./pi/keys.ts";
import { questionScreen } from "./questions/asked-question.ts";
import type { Queue } from "./editor/queue.ts";
import { queuedRows } from "./editor/queued-rows.ts";
import type { Theme } from "./text/theme.ts";

export interface SessionScreenOptions extends ScreenOptions {
  readonly theme: Theme;
  readonly screen: OwnedScreen;
  readonly queue: Queue;
  readonly leaving: AbortSignal;
  /** Stops what runs; null if nothing does. */
  readonly interrupt: () => (() => void) | null;
  /** Whether nothing runs, and there is a message to go back to. */
  readonly mayRewind: () => boolean;
  /** Sets the next permission mode. */
  readonly nextMode: () => void;
}

/** Milliseconds in which a second Ctrl-C leaves, and a second Esc goes back. */
const AGAIN_MS = 3000;

/** A session on the screen: the editor, the exchange that runs, and questions. Loads what keys need. */
export class SessionScreen implements ScreenHandler {
  readonly view: ExchangeRows;
  readonly #options: SessionScreenOptions;
  readonly #highlighter: Highlighter;
  readonly #editor: Editor;
  readonly #history: OpenedEditor["history"];
  readonly #command: PersonCommand;
  readonly #details: Details;
  readonly #asking: Asking;
  #lastTyped = -Infinity;
  /** The next Ctrl-C leaves, until then. */
  #leavesUntil = -Infinity;
  /** The next Esc opens the choice of a message to go back to, until then. */
  #rewindsUntil = -Infinity;

  static async open(options: SessionScreenOptions): Promise<SessionScreen> {
    const { cli, screen, theme, queue, secrets, leaving } = options;
    const opened = await openEditor({
      talk: options,
      screen,
      theme,
      secrets,
      leaving,
      on: {
        submit: ({ text, pasted }) => queue.push({ kind: "line", text, pasted, shown: false }),
        note: (sentence) => noticeLine(cli, sentence),
      },
    });
    return new SessionScreen(options, opened);
  }

  private constructor(options: SessionScreenOptions, { editor, history }: OpenedEditor) {
    const { cli, conversation, screen, theme, leaving } = options;
    this.#options = options;
    this.#editor = editor;
    this.#history = history;
    const highlighter = createHighlighter(theme);
    this.#highlighter = highlighter;
    this.view = createExchangeView({
      theme,
      width: () => screen.width,
      commit: screen.commit,
      changed: screen.changed,
      now,
      markdown: () => createMarkdownStream({ theme, highlighter, width: () => screen.width }),
      changes: conversation.changesOfCalls,
    });
    this.#command = createPersonCommand({ now, changed: screen.changed });
    this.#details = createDetails(cli, this.view, this.#openPager);
    this.#asking = createAsking({
      cli,
      screen: questionScreen(screen, {
        theme,
        lastTyped: () => this.#lastTyped,
        message: editor,
        openPager: this.#openPager,
        openEditor: (on) => openAnswerEditor({ screen, theme, env: cli.env, leaving, on }),
      }),
      leaving,
      keep: (draft) => this.#putBack([draft]),
    });
  }

  /** How many questions are open. */
  questions(): number {
    return this.#asking.count();
  }

  /** Whether a command of the person is shown that runs. */
  isWorking(): boolean {
    return this.#command.isShown();
  }

  rows(width: number, height: number): readonly string[] {
    const { queue, theme } = this.#options;
    const asked = this.#asking.shown();
    const queued = queuedRows(queue.messages(), { theme, width });
    const hint = [...this.#hint().map(theme.dim), ...this.#keys(width, height)];
    const input =
      asked === null
        ? this.#editor.rows(width, height)
        : asked.rows(width, Math.max(3, height - queued.length - hint.length - 1));
    const room = height - queued.length - input.length - hint.length - 1;
    const most = Math.max(1, Math.min(room, Math.floor(height / 3)));
    // an exchange that waits for an answer does not run
    const above =
      asked === null
        ? [...this.view.rows(width, most), ...this.#command.rows({ theme, width })]
        : [];
    return [...above, ...queued, "", ...input, ...hint];
  }

  key(data: string): void {
    if (matchesKey(data, "shift+tab")) {
      // at a question, too: it counts for later calls, and answers nothing
      this.#options.nextMode();
      return;
    }
    if (this.#asking.shown()?.key(data) === true) {
      return;
    }
    this.#lastTyped = now();
    const { queue, screen, theme } = this.#options;
    const key = parseKey(data);
    if (key === "enter" && this.#asksForKeys()) {
      this.#editor.clear();
      screen.commit(["", ...keyRows({ theme, width: screen.width })]);
    } else if (key === "up" && this.#editor.isEmpty() && queue.messages().length > 0) {
      this.#putBack([queue.takeLast()].filter((message) => message !== null));
    } else if (!this.#editor.key(data)) {
      this.#keyOfLoop(key);
    }
    if (key !== "ctrl+c") {
      this.#leavesUntil = -Infinity;
    }
    if (key !== "escape") {
      this.#rewindsUntil = -Infinity;
    }
  }

  paste(text: string): void {
    if (this.#asking.shown()?.paste(text) !== true) {
      this.#lastTyped = now();
      this.#editor.paste(text);
    }
  }

  drawn(): void {
    this.#asking.shown()?.armed();
  }

  away(): void {
    this.#asking.shown()?.hidden();
  }

  /** Ctrl-C: stops what runs; pressed again soon after, leaves. */
  stop(): void {
    const { interrupt, queue } = this.#options;
    const stopRunning = interrupt();
    if (stopRunning !== null) {
      stopRunning();
    } else if (now() < this.#leavesUntil) {
      queue.push({ kind: "end" });
    } else {
      this.#leavesUntil = now() + AGAIN_MS;
      this.#drawTwice();
    }
  }

  async replay(...[messages, limits]: Parameters<ExchangeRows["replay"]>): Promise<void> {
    // all of an answer is there at once: its code would be shown before it can have colours
    const isColoured = messages.some(({ content }) => content.includes("```"));
    if (isColoured && this.#options.theme.name !== "none") {
      await this.#highlighter.load();
    }
    await this.view.replay(messages, limits);
  }

  /** Shows what was sent. */
  sent({ text, pasted }: Message): void {
    const { screen, theme } = this.#options;
    screen.commit([""]);
    if (!pasted && (isCommand(text) || text.startsWith("!"))) {
      screen.commit([`${theme.accent(">")} ${theme.dim(oneLine(text))}`]);
    } else {
      this.view.user(text.startsWith("//") && !pasted ? text.slice(1) : text);
    }
  }

  /** Puts messages that wait back into the editor, after one that was not sent. */
  takeBack(unsent?: Message): void {
    const waiting = this.#options.queue.takeAll();
    this.#putBack([...(unsent === undefined ? [] : [unsent]), ...waiting]);
  }

  ask(asked: Asked): Promise<GivenAnswer | "next" | null> {
    const { cli, conversation } = this.#options;
    if (asked.question.call_id !== null) {
      this.view.asked(asked.question.call_id, asked.question.kind);
    }
    const { repo_path } = conversation.planned();
    const folder = repo_path === null ? null : inHome(repo_path, cli.env["HOME"]);
    return this.#asking.ask({ ...asked, folder });
  }

  confirm(question: string): Promise<boolean> {
    return this.#command.pause(() => this.#asking.confirm(question));
  }

  /** As `Front`. */
  working(text: string, canStop: boolean): () => void {
    return this.#command.begin(text, canStop);
  }

  /** As `Front`. */
  showDetails(n: number | null): Promise<string | null> {
    return this.#details.show(n);
  }

  pickModel(...[models, current]: Parameters<PickModel>): ReturnType<PickModel> {
    const { screen, theme } = this.#options;
    return this.#command.pause(() =>
      screen.full((on) => createModelPicker({ theme, models, current, on })),
    );
  }

  /** As `Front`. */
  async pickSession(): Promise<string | null> {
    const { screen, theme, sessions } = this.#options;
    const source = await sessions();
    return this.#command.pause(() =>
      screen.full<string | null>((on) => createPicker({ theme, source, now: Date.now, on })),
    );
  }

  /** As `Front`. */
  async showDiff(...[title, changes]: Parameters<ShowDiff>): Promise<void> {
    const { screen, theme } = this.#options;
    await this.#openPager(title, diffPages(changes, { theme, width: screen.width }));
  }

  exchange(): ExchangeView {
    const { view } = this;
    view.begin();
    return {
      show: view.show,
      output: view.output,
      // each call shows what it changed
      hasChangedFiles: () => false,
      showChanges: () => undefined,
      finish: view.finish,
      fail: view.fail,
    };
  }

  follow(): FollowView {
    const { view } = this;
    return {
      show: view.showLive,
      showMessage: (message) => view.showLive({ id: "", event: "message", data: message }),
      end: () => undefined,
    };
  }

  async close(): Promise<void> {
    this.view.close();
    this.#command.close();
    await this.#history.written();
  }

  /** As `Front`. */
  rewind(source: RewindSource): Promise<PickedRewind | null> {
    const { screen, theme } = this.#options;
    return this.#command.pause(() =>
      screen.full((on) => createRewindPicker({ theme, source, now: Date.now, on })),
    );
  }

  readonly #openPager = (title: string, rows: readonly string[]): Promise<PagerResult> => {
    const { screen, theme } = this.#options;
    return this.#command.pause(() => screen.full((on) => createPager({ theme, title, rows, on })));
  };

  /** Puts messages before what is being written. */
  #putBack(messages: readonly Message[]): void {
    const editor = this.#editor;
    const all = [...messages, ...(editor.isEmpty() ? [] : [editor.message()])];
    if (messages.length > 0) {
      editor.set({
        text: all.map(({ text }) => text).join("\n"),
        pasted: all.some(({ pasted }) => pasted),
      });
    }
  }

  /** Stops what runs; pressed twice while nothing runs or is written, goes back to a message. */
  #escape(): void {
    const { interrupt, mayRewind, queue } = this.#options;
    const stopRunning = interrupt();
    if (stopRunning !== null) {
      stopRunning();
    } else if (mayRewind() && this.#editor.isEmpty() && queue.messages().length === 0) {
      if (now() < this.#rewindsUntil) {
        this.#rewindsUntil = -Infinity;
        queue.push({ kind: "line", text: "/rewind", pasted: false, shown: false });
      } else {
        this.#rewindsUntil = now() + AGAIN_MS;
        this.#drawTwice();
      }
    }
  }

  /** The keys, while only their sign is written. */
  #keys(width: number, height: number): readonly string[] {
    const { theme } = this.#options;
    // a row for the prompt, and one above it
    return this.#asksForKeys() ? keyRows({ theme, width }).slice(0, Math.max(0, height - 2)) : [];
  }

  #asksForKeys(): boolean {
    const { text, pasted } = this.#editor.message();
    return text === KEYS_SIGN && !pasted && this.#asking.shown() === null;
  }

  /** The hint for a key that does something if it is pressed again. */
  #hint(): readonly string[] {
    if (now() < this.#leavesUntil) {
      return ["Press Ctrl-C again to leave."];
    }
    return now() < this.#rewindsUntil ? ["Press Esc again to go back to a message."] : [];
  }

  /** Draws the screen with the hint, and once more when it is over. */
  #drawTwice(): void {
    const { screen } = this.#options;
    setTimeout(screen.changed, AGAIN_MS).unref();
    screen.changed();
  }

  /** Keys that the editor leaves. */
  #keyOfLoop(key: string | undefined): void {
    const { queue, screen } = this.#options;
    switch (key) {
      case "escape":
        this.#escape();
        break;
      // how a terminal without a keyboard protocol sends Esc twice in a moment
      case "ctrl+alt+[":
        this.#escape();
        this.#escape();
        break;
      case "ctrl+c":
        if (this.#editor.clear() === 0) {
          this.stop();
        }
        break;
      case "ctrl+d":
        queue.push({ kind: "end" });
        break;
      case "ctrl+o":
        void this.#details.openLast();
        break;
      case "ctrl+z":
        void screen.suspend();
        break;
      default:
        break;
    }
  }
}

function now(): number {
  return performance.now();
}

import { oneLine } from "../../core/terminal-text.ts";
import type { Asked, ExchangeView, FollowView } from "../conversation/front.ts";
import { isCommand } from "../conversation/slash.ts";
import { noticeLine } from "../context.ts";
import type { GivenAnswer } from "../question-lines.ts";
import { createAsking } from "./asking.ts";
import { firstOf } from "./completion.ts";
import { createDetails } from "./details.ts";
import { createEditor, type Editor, type EditorOptions, type Message } from "./editor.ts";
import { createExchangeView, type ExchangeView as ExchangeRows } from "./exchange-view.ts";
import { externalEditor } from "./external-editor.ts";
import { inHome } from "./in-home.ts";
import type { ScreenOptions } from "./screen-options.ts";
import { createMarkdownStream } from "./markdown.ts";
import { createHighlighter } from "./markdown/highlight.ts";
import { openEditor } from "./open-editor.ts";
import type { OwnedScreen } from "./open-screen.ts";
import { createPersonCommand } from "./person-command.ts";
import { createPager, type PagerResult } from "./pager.ts";
import { parseKey } from "./pi/keys.ts";
import type { QuestionScreen } from "./asked-question.ts";
import type { Queue } from "./queue.ts";
import { queuedRows } from "./queued-rows.ts";
import type { Theme } from "./theme.ts";

export interface DeskOptions extends ScreenOptions {
  readonly theme: Theme;
  readonly screen: OwnedScreen;
  readonly queue: Queue;
  readonly leaving: AbortSignal;
  /** Stops what runs; null if nothing does. */
  readonly interrupt: () => (() => void) | null;
}

/** All that needs libraries: the editor, the exchange that runs, and questions. */
export interface Desk {
  readonly view: ExchangeRows;
  replay: ExchangeRows["replay"];
  /** How many questions are open. */
  questions(): number;
  rows(width: number, height: number): readonly string[];
  key(data: string): void;
  paste(text: string): void;
  /** The terminal has what `rows` returned. */
  drawn(): void;
  /** Another program has the terminal now. */
  away(): void;
  /** Ctrl-C from outside. */
  stop(): void;
  /** Shows what was sent. */
  sent(message: Message): void;
  /** Puts what waits back into the editor, after a message that was not sent. */
  takeBack(unsent?: Message): void;
  ask(asked: Asked): Promise<GivenAnswer | "next" | null>;
  confirm(question: string): Promise<boolean>;
  /** Whether a command of the person is shown that runs. */
  isWorking(): boolean;
  /** As `Front`. */
  working(text: string, canStop: boolean): () => void;
  showDetails(n: number | null): Promise<string | null>;
  exchange(): ExchangeView;
  follow(): FollowView;
  close(): Promise<void>;
}

/** Milliseconds in which a second Ctrl-C leaves. */
const LEAVE_MS = 3000;

export async function createDesk(options: DeskOptions): Promise<Desk> {
  const { cli, conversation, screen, theme, queue } = options;
  const highlighter = createHighlighter(theme);
  const now = (): number => performance.now();
  let lastTyped = -Infinity;
  /** The next Ctrl-C leaves, until then. */
  let leavesUntil = -Infinity;

  const view = createExchangeView({
    theme,
    width: () => screen.width,
    commit: screen.commit,
    changed: screen.changed,
    now,
    markdown: () => createMarkdownStream({ theme, highlighter, width: () => screen.width }),
    changes: conversation.changesOfCalls,
  });
  const { editor, history } = await openEditor({
    talk: options,
    screen,
    theme,
    secrets: options.secrets,
    leaving: options.leaving,
    on: {
      submit: ({ text, pasted }) => queue.push({ kind: "line", text, pasted, shown: false }),
      note: (sentence) => noticeLine(cli, sentence),
    },
  });
  const command = createPersonCommand({ now, changed: screen.changed });
  const openPager = (title: string, rows: readonly string[]): Promise<PagerResult> =>
    command.pause(() => screen.full((on) => createPager({ theme, title, rows, on })));
  const questions: QuestionScreen = {
    theme,
    get width() {
      return screen.width;
    },
    get height() {
      return screen.height;
    },
    commit: screen.commit,
    changed: screen.changed,
    now,
    lastTyped: () => lastTyped,
    after: (ms, act) => {
      const timer = setTimeout(act, ms);
      return () => clearTimeout(timer);
    },
    message: editor,
    openPager,
    openEditor: (on) => answerEditor(options, on),
  };
  const stop = (): void => {
    const interrupt = options.interrupt();
    if (interrupt !== null) {
      interrupt();
    } else if (now() < leavesUntil) {
      queue.push({ kind: "end" });
    } else {
      leavesUntil = now() + LEAVE_MS;
      setTimeout(screen.changed, LEAVE_MS).unref();
      screen.changed();
    }
  };
  const takeBack = (messages: readonly Message[]): void => {
    const all = [...messages, ...(editor.isEmpty() ? [] : [editor.message()])];
    if (messages.length > 0) {
      editor.set({
        text: all.map(({ text }) => text).join("\n"),
        pasted: all.some(({ pasted }) => pasted),
      });
    }
  };
  const details = createDetails(cli, view, openPager);
  const asking = createAsking({
    cli,
    screen: questions,
    leaving: options.leaving,
    keep: (draft) => takeBack([draft]),
  });
  /** Keys that the editor leaves. */
  const loopKey = (key: string | undefined): void => {
    switch (key) {
      case "escape":
        options.interrupt()?.();
        break;
      case "ctrl+c":
        if (editor.clear() === 0) {
          stop();
        }
        break;
      case "ctrl+d":
        queue.push({ kind: "end" });
        break;
      case "ctrl+o":
        void details.openLast();
        break;
      case "ctrl+z":
        void screen.suspend();
        break;
      default:
        break;
    }
  };
  return {
    view,
    replay: async (messages, limits) => {
      // all of an answer is there at once: its code would be shown before it can have colours
      const isColoured = messages.some(({ content }) => content.includes("```"));
      await (isColoured && theme.name !== "none" ? highlighter.load() : null);
      await view.replay(messages, limits);
    },
    questions: asking.count,
    rows: (width, height) => {
      const asked = asking.shown();
      const queued = queuedRows(queue.messages(), { theme, width });
      const hint = now() < leavesUntil ? [theme.dim("Press Ctrl-C again to leave.")] : [];
      const input =
        asked === null
          ? editor.rows(width, Math.max(1, Math.floor(height / 3)))
          : asked.rows(width, Math.max(3, height - queued.length - hint.length - 1));
      const room = height - queued.length - input.length - hint.length - 1;
      // what waits for an answer does not run
      const above =
        asked === null ? view.rows(width, Math.max(1, Math.min(room, Math.floor(height / 3)))) : [];
      const running = asked === null ? command.rows({ theme, width }) : [];
      return [...above, ...running, ...queued, "", ...input, ...hint];
    },
    key: (data) => {
      if (asking.shown()?.key(data) === true) {
        return;
      }
      lastTyped = now();
      const key = parseKey(data);
      if (key === "up" && editor.isEmpty() && queue.messages().length > 0) {
        takeBack([queue.takeLast()].filter((message) => message !== null));
      } else if (!editor.key(data)) {
        loopKey(key);
      }
      if (key !== "ctrl+c") {
        leavesUntil = -Infinity;
      }
    },
    paste: (text) => {
      if (asking.shown()?.paste(text) !== true) {
        lastTyped = now();
        editor.paste(text);
      }
    },
    drawn: () => asking.shown()?.armed(),
    away: () => asking.shown()?.hidden(),
    stop,
    sent: ({ text, pasted }) => {
      screen.commit([""]);
      if (!pasted && (isCommand(text) || text.startsWith("!"))) {
        screen.commit([`${theme.accent(">")} ${theme.dim(oneLine(text))}`]);
      } else {
        view.user(text.startsWith("//") && !pasted ? text.slice(1) : text);
      }
    },
    takeBack: (unsent) => takeBack([...(unsent === undefined ? [] : [unsent]), ...queue.takeAll()]),
    ask: (asked) => {
      if (asked.question.call_id !== null) {
        view.asked(asked.question.call_id, asked.question.kind);
      }
      const { repo_path } = conversation.planned();
      const folder = repo_path === null ? null : inHome(repo_path, options.cli.env["HOME"]);
      return asking.ask({ ...asked, folder });
    },
    confirm: (question) => command.pause(() => asking.confirm(question)),
    isWorking: command.isShown,
    working: command.begin,
    showDetails: details.show,
    exchange: () => {
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
    },
    follow: () => ({
      show: view.showLive,
      showMessage: (message) => view.showLive({ id: "", event: "message", data: message }),
      end: () => undefined,
    }),
    close: async () => {
      view.close();
      command.close();
      await history.written();
    },
  };
}

/** An editor for an answer: without history and completions. */
function answerEditor(
  { screen, theme, cli, leaving }: DeskOptions,
  on: EditorOptions["on"],
): Editor {
  return createEditor({
    theme,
    history: { entries: () => [], add: () => undefined },
    completions: firstOf([]),
    changed: screen.changed,
    edit: externalEditor({ screen, env: cli.env, leaving }),
    on,
  });
}

import type { LiveEvent } from "../../../core/schemas/live.ts";
import type { FileChangeInfo } from "../../../core/schemas/file-change-schemas.ts";
import { type Task, tasksOf } from "../../../core/text/tasks.ts";
import { stoppedText } from "../../../core/text/words.ts";
import type { QuestionKind } from "../../../core/questions.ts";
import type { Message } from "../../../core/sessions.ts";
import type { ExchangeEvent, ExchangeResult } from "../../../exchange/events.ts";
import type { CallOutput } from "../../../exchange/exchanger.ts";
import { notesOf } from "../../output/tool-lines.ts";
import { GRAPH_ASKS } from "../../output/question-lines.ts";
import { inSeconds, tokensText } from "../text/amounts.ts";
import { createCallLog, type Details } from "./call-log.ts";
import { readEvent } from "./read-event.ts";
import { type AnswerStream, createExchangeRows, type ReadChanges } from "./exchange-rows.ts";
import { createLiveReader } from "./live-reader.ts";
import { createProgress, type Every, type Tokens } from "./progress.ts";
import { changedSummary } from "./change-rows.ts";
import { callChanges, type ReplayedChanges, replayedChanges } from "./call-changes.ts";
import { lastExchanges, type ReplayLimits } from "./replay.ts";
import type { Part } from "../screen/screen.ts";
import { createSubAgents, type CallKey } from "./sub-agents.ts";
import type { Ending, Steps } from "./steps.ts";
import { isOpen, openTaskRow, taskRows } from "./task-rows.ts";
import { createThought } from "./thought.ts";
import type { Theme } from "../text/theme.ts";
import { folded, type Layout } from "./tool-rows.ts";
import { summaryRows, userRows } from "./user-rows.ts";

export interface ExchangeViewOptions {
  readonly theme: Theme;
  width(): number;
  /** Prints finished rows, of at most `width` columns. */
  commit(rows: readonly string[]): void;
  /** The live rows are others now. */
  changed(): void;
  /** Milliseconds. */
  now(): number;
  /** A stream for one answer. */
  markdown(): AnswerStream;
  /** Reads what calls changed in files; without it no diffs are shown. */
  readonly changes?: ReadChanges;
  /** By default a timer that keeps no process alive. */
  readonly every?: Every;
}

/** Exchanges of a session on the screen: their finished rows, and live rows while one runs. */
export interface ExchangeView extends Part {
  /** A message that is sent: its rows are finished at once. Calls that waited for an answer are given up. */
  user(text: string): void;
  /** Shows progress from now on, before the event `started` comes. */
  begin(): void;
  show(event: ExchangeEvent): void;
  /** Shows what another process runs in the session, or has run. */
  showLive(event: LiveEvent): void;
  /** Live output of a command, in whole lines. */
  output(piece: CallOutput): void;
  /** A question of this call was shown, with its answer: its end shows less. */
  asked(call_id: string, kind: QuestionKind): void;
  /** Resolves once every row is finished that can be; calls that wait for an answer continue with the next event. */
  finish(result: ExchangeResult): Promise<void>;
  /** Ends the view of an exchange that failed; the reason is printed after this. Resolves as `finish`. */
  fail(): Promise<void>;
  /** Shows the last exchanges of stored messages, ascending by `seq`, as finished rows. */
  replay(messages: readonly Message[], limits: ReplayLimits): Promise<void>;
  /**
   * All of a finished group, call or message, the latest without a number; null if it is not kept. Lines are clean, and
   * of any width.
   */
  details(n?: number): Details | null;
  /** Shows this list of the agent from now on, unless an exchange runs, whose calls change it. */
  setTasks(tasks: readonly Task[]): void;
  /** True from `begin`, or the event `started`, to the end or a question. */
  isRunning(): boolean;
  /** Returns the tokens of the exchange that runs or ran last. */
  tokens(): Tokens;
  /** Ends the timer. */
  close(): void;
}

/** An exchange without calls and counted tokens that took longer gets a row at its end. */
const LONG_MS = 10_000;
const MAX_NOTE = 2000;
/** In a narrower terminal rows have this many columns; the screen cuts them. */
const MIN_WIDTH = 20;
const NOTE_ROWS = 6;

export function createExchangeView(options: ExchangeViewOptions): ExchangeView {
  const { theme, changed, now, changes } = options;
  const width = (): number => Math.max(MIN_WIDTH, options.width());
  const log = createCallLog();
  const agents = createSubAgents(now);
  const progress = createProgress(options);
  const thought = createThought(log, now);
  /** The session of the exchange; those of its sub-agents are others. */
  let own = "";
  let hasBegun = false;
  /** The messages that are shown again; null while none are. */
  let replayed: ReplayedChanges | null = null;
  let calls = 0;
  /** Files that the exchange has changed. */
  let changedFiles: FileChangeInfo[] = [];
  /** The agent's list: one that is done goes with its exchange. */
  let tasks: readonly Task[] = [];
  /** Lists of calls that run. */
  const given = new Map<string, readonly Task[]>();
  const keyOf = ({ id }: { readonly id: string }): CallKey => ({ session_id: own, call_id: id });
  const layout = (): Layout => ({ theme, width: width() });

  const rows = createExchangeRows({
    ...options,
    width,
    log,
    onChanges: (found) => void changedFiles.push(...found),
    runningRows: (call, at) => agents.rows(keyOf(call), at, call.text.subject),
    changesOf: (call) => {
      const { facts, changing } = agents.end(keyOf(call));
      call.notes(facts);
      const changers = call.isChanging ? [keyOf(call)] : changing;
      if (changes === undefined || changers.length === 0) {
        return null;
      }
      return replayed === null ? callChanges(changes, changers) : replayed(call.id);
    },
  });
  const note = (text: string, style: (text: string) => string): void =>
    rows.rows("notes", noteRows(text, layout()).map(style));
  const endThought = (): void => rows.rows("calls", thought.end(layout()));
  const begin = (canStop: boolean): void => {
    if (!progress.isRunning()) {
      hasBegun = false;
      progress.begin(canStop ? "Esc stops" : null);
      changed();
    }
  };
  const reset = (): void => {
    calls = 0;
    tasks = tasks.some(isOpen) ? tasks : [];
    given.clear();
    progress.reset();
    agents.clear();
  };
  const over = async (ending: Ending): Promise<void> => {
    const spentMs = progress.spentMs();
    progress.halt();
    endThought();
    if (ending.state === "waiting") {
      await rows.flush("keep");
      return;
    }
    rows.giveUp();
    const said = sentenceOf(ending);
    if (said !== "") {
      note(said, ending.state === "failed" ? theme.error : theme.dim);
    }
    const { input_tokens, output_tokens } = progress.tokens();
    const hasUsed = input_tokens + output_tokens > 0;
    if (ending.state === "done" && (calls > 0 || hasUsed || spentMs >= LONG_MS)) {
      const used = hasUsed ? ` · ${tokensText(progress.tokens())}` : "";
      note(`done in ${inSeconds(spentMs)}${used}`, theme.dim);
    }
    reset();
    // reads what the calls changed
    await rows.flush("give_up");
    if (changedFiles.length > 0) {
      note(changedSummary(changedFiles), theme.dim);
      changedFiles = [];
      await rows.flush("give_up");
    }
  };
  const user = (text: string): void => {
    rows.giveUp();
    reset();
    changedFiles = [];
    rows.rows("user", userRows(text, layout(), log));
  };
  const steps: Steps = {
    user,
    begun: (canStop) => {
      begin(canStop);
      hasBegun = true;
    },
    reasoning: (message_id, piece) => {
      progress.retry(null);
      rows.endText();
      thought.add(message_id, piece);
    },
    text: (message_id, piece) => {
      progress.retry(null);
      endThought();
      rows.text(message_id, piece);
    },
    endText: () => {
      endThought();
      rows.endText();
    },
    voidText: (message_id) => {
      thought.drop();
      rows.voidText(message_id);
    },
    call: (call) => {
      progress.retry(null);
      endThought();
      calls += 1;
      const list = tasksOf(call);
      if (list !== null) {
        given.set(call.id, list);
      }
      rows.call(call);
    },
    output: rows.arrived,
    result: (of, result) => {
      tasks = (result.status === "ok" ? given.get(of.id) : undefined) ?? tasks;
      given.delete(of.id);
      rows.result(of, result);
    },
    retry: (again) => {
      if (again !== null) {
        thought.drop();
      }
      progress.retry(again);
    },
    used: progress.add,
    usedInAll: progress.set,
    note: (sentence) => note(`note: ${sentence}`, theme.warning),
    summary: (text) => rows.rows("notes", summaryRows(text, layout(), log)),
    over,
  };
  const live = createLiveReader(steps, now);
  const doing = (): string => {
    if (thought.isOpen()) {
      return "Thinking";
    }
    if (rows.isAnswering()) {
      return "Answering";
    }
    if (rows.running() > 0) {
      return agents.count() > 0 ? "Sub-agents work" : "Working";
    }
    return hasBegun ? "Thinking" : "Starting";
  };

  return {
    rows: (columns, height) => {
      const at = { theme, width: Math.max(MIN_WIDTH, columns) };
      const last = progress.row(doing(), at);
      if (last === null) {
        return tasks.some(isOpen) && height > 1 ? [openTaskRow(tasks, at)] : [];
      }
      const list = taskRows(tasks, at, Math.floor((height - 1) / 2));
      const room = Math.max(0, height - 1 - list.length);
      return [...(room === 0 ? [] : rows.live(at).slice(-room)), ...list, last];
    },
    user,
    begin: () => begin(true),
    show: (event) => {
      if (own === "" || event.type === "started") {
        own = event.session_id;
      }
      // reports of a sub-agent after the end are not shown any more
      if (!progress.isRunning() && event.type !== "started" && event.type !== "notice") {
        return;
      }
      if (!agents.heard(event) && event.session_id === own) {
        readEvent(event, steps, now);
      } else if (event.type === "tool_result") {
        // the row of a sub-agent is too short for them
        notesOf(event).forEach((sentence) => steps.note(sentence));
      }
      changed();
    },
    showLive: (event) => {
      own = sessionOf(event) ?? own;
      live.read(event);
      changed();
    },
    output: ({ session_id, call_id, text }) => {
      // the row of a sub-agent is too short for it
      if (session_id === own) {
        rows.output(call_id, text);
        changed();
      }
    },
    asked: rows.asked,
    finish: (result) => over(endingOf(result)),
    fail: () => over({ state: "failed", sentence: "" }),
    replay: async (messages, limits) => {
      const { shown, before } = lastExchanges(messages, limits);
      if (before !== "") {
        note(before, theme.dim);
      }
      replayed = replayedChanges(changes, shown);
      shown.forEach((message) => live.replay(message));
      replayed = null;
      await rows.flush("keep");
    },
    details: log.details,
    setTasks: (found) => {
      if (!progress.isRunning()) {
        tasks = found.some(isOpen) ? found : [];
        changed();
      }
    },
    isRunning: progress.isRunning,
    tokens: progress.tokens,
    close: progress.halt,
  };
}

/** Only the first row begins as rows of the program do. */
function noteRows(text: string, { width }: Layout): string[] {
  const rows = folded(text.slice(0, MAX_NOTE), width - 2, NOTE_ROWS);
  return rows.map((row, index) => (index === 0 ? row : `  ${row}`));
}

function sessionOf({ event, data }: LiveEvent): string | null {
  return event === "snapshot"
    ? data.session.id
    : event === "message" || event === "exchange"
      ? data.session_id
      : null;
}

function endingOf(result: ExchangeResult): Ending {
  switch (result.state) {
    case "done":
      return { state: "done" };
    case "stopped":
      return { state: "stopped", hasAnswer: result.answer !== "" };
    case "waiting":
      return result.interrupts === undefined
        ? { state: "waiting" }
        : {
            state: "asks",
            questions: result.interrupts.map(({ value }) => JSON.stringify(value) ?? ""),
          };
  }
}

function sentenceOf(ending: Ending): string {
  switch (ending.state) {
    case "done":
    case "waiting":
      return "";
    case "stopped":
      return stoppedText({ hasAnswer: ending.hasAnswer, next: "/continue resumes it." });
    case "asks":
      return [GRAPH_ASKS, ...ending.questions.map((question) => `? ${question}`)].join("\n");
    case "failed":
      return ending.sentence;
  }
}

import type { FileChangeInfo } from "../../../core/schemas/file-change-schemas.ts";
import type { QuestionKind } from "../../../core/questions.ts";
import type { ToolCall } from "../../../core/sessions.ts";
import { plural } from "../../../core/text/text.ts";
import type { CallLog } from "./call-log.ts";
import { cutLine, foldLine } from "../text/fold.ts";
import { createReadGroup, type ReadGroup } from "./read-group.ts";
import { createShownCall, type ShownCall, type ShownResult } from "./shown-call.ts";
import type { Theme } from "../text/theme.ts";
import type { Layout } from "./tool-rows.ts";

/** An answer that arrives. Cleans it; its cost does not grow with what came before. */
export interface AnswerStream {
  /** Returns the rows that are final. */
  add(piece: string): readonly string[];
  live(width: number): readonly string[];
  end(): readonly string[];
}

/** Reads what calls of a session changed in files, by the id of the call. */
export type ReadChanges = (calls: {
  readonly session_id: string;
  readonly call_ids: readonly string[];
}) => Promise<ReadonlyMap<string, readonly FileChangeInfo[]>>;

export interface RowsOptions {
  readonly theme: Theme;
  width(): number;
  commit(rows: readonly string[]): void;
  changed(): void;
  now(): number;
  markdown(): AnswerStream;
  readonly log: CallLog;
  /** Returns what a call changed that has succeeded; null if it can have changed nothing. */
  changesOf(call: ShownCall): Promise<readonly FileChangeInfo[]> | null;
  /** Changes of a call were read. */
  onChanges(changes: readonly FileChangeInfo[]): void;
  /** Live rows that replace those of a call; null for others. */
  runningRows(call: ShownCall, layout: Layout): string[] | null;
}

const TEXT_IS_VOID = "The text above is void: it broke off.";
/** Calls that are live rows. */
const MAX_LIVE = 6;

/** Rows in their order: those of a call wait for its end, and what comes after it waits too. */
type Entry =
  | { readonly kind: "rows"; readonly part: string; readonly rows: readonly string[] }
  | { readonly kind: "call"; readonly call: ShownCall; isReady: boolean }
  | ReadGroup;

export interface ExchangeRows {
  text(message_id: string, piece: string): void;
  endText(): void;
  /** The text of this answer comes again, under another id. */
  voidText(message_id: string): void;
  call(call: ToolCall): ShownCall;
  result(call: Omit<ToolCall, "args">, result: ShownResult): void;
  /** Finished rows; those of one part are together, and an empty row is before each part. */
  rows(part: string, rows: readonly string[]): void;
  /** Live output of a call. */
  output(call_id: string, text: string): void;
  /** As `output`, of a call whose result has more lines than arrive. */
  arrived(call_id: string, text: string): void;
  /** A question of the call was shown. */
  asked(call_id: string, kind: QuestionKind): void;
  /** No result of a call comes any more. */
  giveUp(): void;
  /**
   * No further event comes. Calls without a result `keep` it open, for an answer that comes, or it is given up. Resolves
   * once all that can be is finished.
   */
  flush(open: "keep" | "give_up"): Promise<void>;
  running(): number;
  isAnswering(): boolean;
  live(layout: Layout): string[];
}

/**
 * The finished rows of exchanges, in order, and the live rows of what is not finished. Consecutive calls that only read
 * are one group.
 */
export function createExchangeRows(options: RowsOptions): ExchangeRows {
  const { width, now, markdown, changesOf } = options;
  const finished = createFinished(options);
  const open = new Map<string, ShownCall>();
  const reading = new Set<Promise<void>>();
  let entries: Entry[] = [];
  let answer: { readonly id: string; readonly stream: AnswerStream; hasRows: boolean } | null =
    null;

  const drain = (): void => {
    const at = entries.findIndex((entry) => !isReady(entry));
    const ready = entries.slice(0, at < 0 ? entries.length : at);
    if (ready.length > 0) {
      entries = entries.slice(ready.length);
      ready.forEach(finished.put);
    }
    options.changed();
  };
  const closeGroup = (): void => {
    const last = entries.at(-1);
    if (last?.kind === "reads") {
      last.close();
    }
  };
  const rows = (part: string, added: readonly string[]): void => {
    if (added.length > 0) {
      closeGroup();
      entries.push({ kind: "rows", part, rows: added });
      drain();
    }
  };
  const endText = (): void => {
    const ended = answer;
    answer = null;
    if (ended !== null) {
      rows(ended.id, ended.stream.end());
    }
  };
  const call = (begun: ToolCall): ShownCall => {
    const known = open.get(begun.id);
    if (known !== undefined) {
      return known;
    }
    endText();
    const shown = createShownCall(begun, now());
    open.set(begun.id, shown);
    const last = entries.at(-1);
    if (!shown.isReading) {
      closeGroup();
      entries.push({ kind: "call", call: shown, isReady: false });
    } else if (last?.kind === "reads" && last.takes()) {
      last.add(shown);
    } else {
      closeGroup();
      const group = createReadGroup(now);
      group.add(shown);
      entries.push(group);
    }
    drain();
    return shown;
  };
  const finish = (shown: ShownCall, result: ShownResult): void => {
    open.delete(shown.id);
    shown.finish(result);
    const changes = shown.mayHaveDone(result) ? changesOf(shown) : null;
    const entry = entries.find((each) => each.kind === "call" && each.call === shown);
    const ready = (): void => {
      if (entry?.kind === "call") {
        entry.isReady = true;
      }
      drain();
    };
    if (changes === null) {
      ready();
      return;
    }
    // a diff that cannot be read is none
    const read = changes
      .then(
        (found) => {
          shown.changed(found);
          options.onChanges(found);
        },
        () => undefined,
      )
      .then(ready);
    reading.add(read);
    void read.finally(() => reading.delete(read));
  };
  const giveUp = (): void => {
    endText();
    closeGroup();
    for (const shown of open.values()) {
      finish(shown, { status: "unknown", content: "", duration_ms: null });
    }
    drain();
  };
  return {
    text: (message_id, piece) => {
      if (answer?.id !== message_id) {
        endText();
        answer = { id: message_id, stream: markdown(), hasRows: false };
      }
      const added = answer.stream.add(piece);
      answer.hasRows ||= added.length > 0;
      rows(message_id, added);
      options.changed();
    },
    endText,
    voidText: (message_id) => {
      if (answer?.id === message_id) {
        const { hasRows } = answer;
        answer = null;
        rows("void", hasRows ? foldLine(TEXT_IS_VOID, width()).map(options.theme.warning) : []);
      }
    },
    call,
    result: (of, result) => finish(open.get(of.id) ?? call({ ...of, args: undefined }), result),
    rows,
    output: (call_id, text) => open.get(call_id)?.output(text),
    arrived: (call_id, text) => open.get(call_id)?.arrived(text),
    asked: (call_id, kind) => open.get(call_id)?.asked(kind),
    giveUp,
    flush: async (calls) => {
      if (calls === "give_up") {
        giveUp();
      }
      endText();
      closeGroup();
      await Promise.all(reading);
      entries.filter(isReady).forEach(finished.put);
      entries = entries.filter((entry) => !isReady(entry));
      options.changed();
    },
    running: () => open.size,
    isAnswering: () => answer !== null,
    live: (layout) => {
      const calls = entries.filter(({ kind }) => kind !== "rows").length;
      const shown = new Set(entries.filter(({ kind }) => kind !== "rows").slice(0, MAX_LIVE));
      const hidden = calls - shown.size;
      const text = answer?.stream.live(width()) ?? [];
      return [
        ...entries.flatMap((entry) =>
          entry.kind === "rows"
            ? entry.rows
            : shown.has(entry)
              ? runningRows(entry, layout, options)
              : [],
        ),
        ...(hidden > 0
          ? [layout.theme.dim(cutLine(`  … ${plural(hidden, "more call")}`, layout.width))]
          : []),
        ...(text.length > 0 && finished.last() !== answer?.id ? ["", ...text] : text),
      ];
    },
  };
}

function isReady(entry: Entry): boolean {
  return entry.kind === "rows" || (entry.kind === "call" ? entry.isReady : entry.isReady());
}

function runningRows(
  entry: Exclude<Entry, { kind: "rows" }>,
  layout: Layout,
  { now, runningRows }: RowsOptions,
): string[] {
  if (entry.kind === "reads") {
    return entry.running(layout, now());
  }
  return runningRows(entry.call, layout) ?? entry.call.running(layout, now());
}

/** Prints entries, with an empty row before each part. */
function createFinished({ theme, width, commit, log }: RowsOptions) {
  let last: string | null = null;
  const print = (part: string, rows: readonly string[]): void => {
    if (rows.length > 0) {
      commit(last === null || last === part ? rows : ["", ...rows]);
      last = part;
    }
  };
  return {
    /** The part of the last row. */
    last: () => last,
    put: (entry: Entry): void => {
      if (entry.kind === "rows") {
        print(entry.part, entry.rows);
        return;
      }
      const shown = entry.kind === "call" ? entry.call : entry;
      if (entry.kind === "call" && entry.call.isSilent()) {
        return;
      }
      const n = log.next();
      print("calls", shown.ended({ theme, width: width() }, n));
      log.keep(n, { title: shown.title(), size: shown.size(), lines: shown.lines });
    },
  };
}

import type { AnswerEntry, Entry, ForeignCall, ResultEntry } from "./history.ts";

/** Entry of a thread that every provider takes: each call of an answer is followed by its result. */
export type PairedEntry = Exclude<Entry, AnswerEntry | ResultEntry> | PairedAnswer | PairedResult;

export interface PairedAnswer extends Omit<AnswerEntry, "calls"> {
  readonly calls: readonly OwnCall[];
}

export interface OwnCall extends Pick<ForeignCall, "name" | "args"> {
  /** Id of the call in the thread. */
  readonly own_id: string;
  /** Id that the program gave it. */
  readonly id: string;
}

export interface PairedResult {
  readonly kind: "result";
  readonly call: OwnCall;
  /** Null if the program kept none, and the conversation continued. */
  readonly result: ResultEntry | null;
  readonly ts: string | null;
}

/** Makes the id that a call has in the thread. */
export type NameCall = (call: ForeignCall, answer: AnswerEntry, index: number) => string;

/**
 * Places each result after the answer that called for it, in the order of the calls. A call without a result gets a
 * place for one, unless the conversation ends there: the next exchange closes it. Results without a call, answers
 * without content and empty messages are left out.
 */
export function paired(entries: readonly Entry[], nameCall: NameCall): readonly PairedEntry[] {
  const results = new Results(entries);
  const last = entries.findLastIndex(({ kind }) => kind !== "result");
  return entries.flatMap((entry, at): readonly PairedEntry[] => {
    switch (entry.kind) {
      case "result":
        return [];
      case "answer":
        return entry.text === "" && entry.calls.length === 0
          ? []
          : withResults(entry, { at, isLast: at === last, results, nameCall });
      default:
        return entry.text === "" ? [] : [entry];
    }
  });
}

interface Placing {
  readonly at: number;
  readonly isLast: boolean;
  readonly results: Results;
  readonly nameCall: NameCall;
}

function withResults(answer: AnswerEntry, placing: Placing): readonly PairedEntry[] {
  const { at, isLast, results, nameCall } = placing;
  const calls = answer.calls.map((call, index): OwnCall => {
    return { id: call.id, name: call.name, args: call.args, own_id: nameCall(call, answer, index) };
  });
  const given = calls.flatMap((call): readonly PairedResult[] => {
    const result = results.take(call.id, at);
    return result === null && isLast
      ? []
      : [{ kind: "result", call, result, ts: result?.ts ?? answer.ts }];
  });
  return [{ ...answer, calls }, ...given];
}

/** Results by the ids of their calls; a program may count the ids of each answer from 0. */
class Results {
  readonly #results = new Map<string, { readonly at: number; readonly result: ResultEntry }[]>();
  readonly #calls = new Map<string, number[]>();

  constructor(entries: readonly Entry[]) {
    for (const [at, entry] of entries.entries()) {
      if (entry.kind === "result") {
        added(this.#results, entry.call_id, { at, result: entry });
      } else if (entry.kind === "answer") {
        for (const { id } of entry.calls) {
          added(this.#calls, id, at);
        }
      }
    }
  }

  /** Returns the result of a call of the answer at a position: the first before the id is used again. */
  take(id: string, at: number): ResultEntry | null {
    const next = this.#calls.get(id)?.find((later) => later > at) ?? Infinity;
    const found = this.#results.get(id) ?? [];
    return found.find((one) => one.at > at && one.at < next)?.result ?? null;
  }
}

function added<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key);
  if (list === undefined) {
    map.set(key, [value]);
  } else {
    list.push(value);
  }
}

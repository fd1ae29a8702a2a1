import { isDeepStrictEqual } from "node:util";

import { WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";
import { expect } from "vitest";

/** A channel and its value, as plain data. */
type Written = readonly [channel: string, value: unknown];

/** A call of `putWrites`. */
interface Call {
  /** Null once its process has ended. */
  readonly number: number | null;
  readonly writes: readonly Written[];
  /** False if it may be missing. */
  readonly isStored: boolean;
  /** True if a deletion of the thread may have come before or after it. */
  readonly mayBeDeleted: boolean;
}

/** Written content by its place: the position in the call, or the number of a special channel. */
type Places = ReadonlyMap<number, Written>;

/**
 * What may be stored of a task whose calls may have been lost with their process. As in MemorySaver, a
 * place keeps its first content, and that of a special channel its last. The task of `updateState`
 * has the same id each time that one checkpoint is updated: so if a process is killed after it wrote
 * the task and before it put the next checkpoint, the content of the next process is not stored.
 */
export class LoggedTask {
  #known: Places = new Map();
  #calls: Call[] = [];

  begin(number: number, writes: readonly Written[], mayBeDeleted: boolean): void {
    this.#calls.push({ number, writes, isStored: false, mayBeDeleted });
  }

  /** Messages of acknowledged writes have ids. */
  acknowledge(number: number, writes: readonly Written[]): void {
    this.#calls = this.#calls.map((call) =>
      call.number === number ? { ...call, writes, isStored: !call.mayBeDeleted } : call,
    );
  }

  /** The thread was deleted; calls during the deletion may have come after it. */
  forget(): void {
    this.#known = new Map();
    this.#calls = this.#calls
      .filter(({ isStored }) => !isStored)
      .map((call) => ({ ...call, mayBeDeleted: true }));
  }

  /** No call is running any more. */
  settle(): void {
    this.#calls = this.#calls.map((call) => ({ ...call, number: null }));
  }

  /** Compares what is stored, in the order of its places; from then on it is known. */
  compare(stored: readonly Written[], key: string): void {
    const possible = this.#calls.reduce(
      (before, call) => [
        ...before.map((places) => placed(places, call.writes)),
        ...(call.isStored ? [] : before),
      ],
      [this.#known],
    );
    const contents = possible.map((places) => withIdsOf(inOrder(places), stored));
    expect(contents, key).toContainEqual(stored);
    const found = contents.findIndex((content) => isDeepStrictEqual(content, stored));
    const places = [...(possible[found]?.keys() ?? [])].sort((a, b) => a - b);
    this.#known = new Map(places.map((place, index) => [place, stored[index]!]));
    this.#calls = [];
  }
}

function placed(before: Places, writes: readonly Written[]): Places {
  const all = new Map(before);
  for (const [position, write] of writes.entries()) {
    const place = WRITES_IDX_MAP[write[0]] ?? position;
    if (place < 0 || !before.has(place)) {
      all.set(place, write);
    }
  }
  return all;
}

function inOrder(places: Places): Written[] {
  return [...places].sort(([a], [b]) => a - b).map(([, write]) => write);
}

/** Messages that were given without an id get one when they are stored. */
function withIdsOf(given: unknown, stored: unknown): unknown {
  if (!isObject(given) || !isObject(stored)) {
    return given;
  }
  if (Array.isArray(given)) {
    return given.map((member, index) => withIdsOf(member, Reflect.get(stored, index)));
  }
  const members = Object.entries(given).map(([key, member]) => [
    key,
    withIdsOf(member, Reflect.get(stored, key)),
  ]);
  const id = !("id" in given) && "id" in stored ? { id: stored.id } : {};
  return { ...Object.fromEntries(members), ...id };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

import type { RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { expect } from "vitest";

import type { LoggedWrite, LogLine } from "./logged-saver.ts";
import { plain } from "./plain.ts";

/** What of a thread is certain and what is possible, from the log of programs that were killed. */
interface LoggedThread {
  /** What was acknowledged and not begun again, by its key. */
  readonly certain: Map<string, LoggedWrite>;
  /** All that was begun, with the number of deletions before; null if it was during one. */
  readonly begun: Map<string, number | null>;
  /** Ids that the latest checkpoint may have: the last acknowledged, and those begun after it. */
  latest: string[];
  deletions: number;
  isDeleting: boolean;
}

const NONE = "none";

/** Compares what is stored with the log: nothing lost, doubled or changed, nothing unknown. */
export class LoggedThreads {
  readonly #threads = new Map<string, LoggedThread>();
  #acknowledged = 0;

  /** How many writes were. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  learn(line: LogLine): void {
    const thread = this.#of(line.thread);
    this.#acknowledged += line.stored ? 1 : 0;
    if (line.kind !== "delete") {
      (line.stored ? acknowledge : begin)(thread, line);
      return;
    }
    thread.isDeleting = !line.stored;
    if (line.stored) {
      forget(thread);
    }
  }

  /** Compares all that is there now. */
  async compare(saver: BaseCheckpointSaver): Promise<void> {
    for (const [thread_id, thread] of this.#threads) {
      const config = { configurable: { thread_id } };
      const tuples = await Array.fromAsync(saver.list(config));
      // the kill came while the thread was deleted: all of it is there, or nothing
      if (thread.isDeleting && tuples.length === 0) {
        forget(thread);
      }
      thread.isDeleting = false;
      compareThread(thread, tuples);
      const latest = await saver.getTuple(config);
      expect(thread.latest).toContain(latest?.checkpoint.id ?? NONE);
    }
  }

  #of(name: string): LoggedThread {
    const thread = this.#threads.get(name) ?? {
      certain: new Map<string, LoggedWrite>(),
      begun: new Map<string, number | null>(),
      latest: [NONE],
      deletions: 0,
      isDeleting: false,
    };
    this.#threads.set(name, thread);
    return thread;
  }
}

function forget(thread: LoggedThread): void {
  thread.certain.clear();
  thread.deletions += 1;
  thread.latest = [NONE];
}

function begin(thread: LoggedThread, write: LoggedWrite): void {
  const key = keyOf(write);
  thread.certain.delete(key);
  thread.begun.set(key, thread.isDeleting ? null : thread.deletions);
  if (write.kind === "put" && write.ns === "") {
    thread.latest.push(write.id);
  }
}

function acknowledge(thread: LoggedThread, write: LoggedWrite): void {
  const key = keyOf(write);
  if (thread.begun.get(key) !== thread.deletions) {
    return;
  }
  thread.certain.set(key, write);
  if (write.kind === "put" && write.ns === "") {
    thread.latest = thread.latest.slice(thread.latest.lastIndexOf(write.id));
  }
}

function compareThread(thread: LoggedThread, tuples: readonly CheckpointTuple[]): void {
  const stored = new Map(tuples.map((tuple) => [placeOf(tuple.config), tuple]));
  expect(stored.size).toBe(tuples.length);
  for (const [place, { checkpoint, parentConfig }] of stored) {
    expect([thread.deletions, null], place).toContain(thread.begun.get(`put ${place}`));
    const ids = (checkpoint.channel_values["messages"] ?? []) as { readonly id?: string }[];
    expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length);
    expect(parentConfig === undefined || stored.has(placeOf(parentConfig)), place).toBe(true);
  }
  for (const [key, write] of thread.certain) {
    const tuple = stored.get(`${write.ns} ${write.id}`);
    if (write.kind === "put") {
      expect(contentOf(tuple), key).toEqual(write.content);
    } else if (tuple !== undefined) {
      // a task may write before its checkpoint is stored
      expect(writesOf(tuple, write.task), key).toEqual(expect.arrayContaining(write.content));
    }
  }
}

function contentOf(tuple: CheckpointTuple | undefined): unknown {
  const { checkpoint, metadata, parentConfig } = tuple ?? {};
  const parent: unknown = parentConfig?.configurable?.["checkpoint_id"];
  return throughJson(plain({ checkpoint, metadata, parent }));
}

function writesOf({ pendingWrites = [] }: CheckpointTuple, task: string): unknown {
  const ofTask = pendingWrites.filter(([id]) => id === task);
  return throughJson(plain(ofTask.map(([, channel, value]) => [channel, value])));
}

function throughJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

function keyOf(write: LoggedWrite): string {
  const place = `${write.ns} ${write.id}`;
  return write.kind === "put" ? `put ${place}` : `writes ${place} ${write.task}`;
}

function placeOf({ configurable = {} }: RunnableConfig): string {
  return `${String(configurable["checkpoint_ns"])} ${String(configurable["checkpoint_id"])}`;
}

import type { RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { expect } from "vitest";

import type { LoggedWrite, LogLine } from "./logged-saver.ts";
import { LoggedTask } from "./logged-task.ts";
import { plain } from "./plain.ts";

type LoggedPut = LoggedWrite & { readonly kind: "put" };
type LoggedWrites = LoggedWrite & { readonly kind: "writes" };

/** What of a thread is certain and what is possible, from the log of programs that were killed. */
interface LoggedThread {
  /** Checkpoints that were acknowledged and not begun again, by their place. */
  readonly certain: Map<string, LoggedPut>;
  /** All checkpoints that were begun, with the number of deletions before; null if during one. */
  readonly begun: Map<string, number | null>;
  /** What tasks wrote, by the place of their checkpoint and their id. */
  readonly tasks: Map<string, Map<string, LoggedTask>>;
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
    if (line.kind === "put") {
      (line.stored ? acknowledge : begin)(thread, line);
      return;
    }
    if (line.kind === "writes") {
      learnWrites(thread, line);
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
      // a graph whose task failed may still be writing: what is acknowledged later may be in no list
      let certain: ReadonlyMap<string, LoggedPut> = new Map(thread.certain);
      const tuples = await Array.fromAsync(saver.list(config));
      // the kill came while the thread was deleted: all of it is there, or nothing
      if (thread.isDeleting && tuples.length === 0) {
        forget(thread);
        certain = thread.certain;
      }
      thread.isDeleting = false;
      compareThread(thread, certain, tuples);
      const latest = await saver.getTuple(config);
      expect(thread.latest).toContain(latest?.checkpoint.id ?? NONE);
    }
  }

  #of(name: string): LoggedThread {
    const thread = this.#threads.get(name) ?? {
      certain: new Map<string, LoggedPut>(),
      begun: new Map<string, number | null>(),
      tasks: new Map<string, Map<string, LoggedTask>>(),
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
  for (const task of tasksOf(thread)) {
    task.forget();
  }
  thread.deletions += 1;
  thread.latest = [NONE];
}

function begin(thread: LoggedThread, write: LoggedPut): void {
  const place = `${write.ns} ${write.id}`;
  thread.certain.delete(place);
  thread.begun.set(place, thread.isDeleting ? null : thread.deletions);
  if (write.ns === "") {
    thread.latest.push(write.id);
  }
}

function acknowledge(thread: LoggedThread, write: LoggedPut): void {
  const place = `${write.ns} ${write.id}`;
  if (thread.begun.get(place) !== thread.deletions) {
    return;
  }
  thread.certain.set(place, write);
  if (write.ns === "") {
    thread.latest = thread.latest.slice(thread.latest.lastIndexOf(write.id));
  }
}

function learnWrites(thread: LoggedThread, { ns, id, task, ...write }: LoggedWrites): void {
  const { call } = write;
  const content = throughJson(write.content);
  const tasks = thread.tasks.get(`${ns} ${id}`) ?? new Map<string, LoggedTask>();
  thread.tasks.set(`${ns} ${id}`, tasks);
  const logged = tasks.get(task) ?? new LoggedTask();
  tasks.set(task, logged);
  if (write.stored) {
    logged.acknowledge(call, content);
  } else {
    logged.begin(call, content, thread.isDeleting);
  }
}

function tasksOf({ tasks }: LoggedThread): LoggedTask[] {
  return [...tasks.values()].flatMap((ofCheckpoint) => [...ofCheckpoint.values()]);
}

function compareThread(
  thread: LoggedThread,
  certain: ReadonlyMap<string, LoggedPut>,
  tuples: readonly CheckpointTuple[],
): void {
  const stored = new Map(tuples.map((tuple) => [placeOf(tuple.config), tuple]));
  expect(stored.size).toBe(tuples.length);
  for (const task of tasksOf(thread)) {
    task.settle();
  }
  for (const [place, tuple] of stored) {
    const { checkpoint, parentConfig, pendingWrites = [] } = tuple;
    expect([thread.deletions, null], place).toContain(thread.begun.get(place));
    const ids = (checkpoint.channel_values["messages"] ?? []) as { readonly id?: string }[];
    expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length);
    expect(parentConfig === undefined || stored.has(placeOf(parentConfig)), place).toBe(true);
    // a task may write before its checkpoint is stored
    const tasks = thread.tasks.get(place) ?? new Map<string, LoggedTask>();
    expect([...tasks.keys()], place).toEqual(
      expect.arrayContaining(pendingWrites.map(([task]) => task)),
    );
    for (const [id, task] of tasks) {
      const ofTask = pendingWrites.filter(([writer]) => writer === id);
      const writes = ofTask.map(([, channel, value]) => [channel, plain(value)] as const);
      task.compare(throughJson(writes), `${place} ${id}`);
    }
  }
  for (const [place, { content }] of certain) {
    expect(contentOf(stored.get(place)), place).toEqual(content);
  }
}

function contentOf(tuple: CheckpointTuple | undefined): unknown {
  const { checkpoint, metadata, parentConfig } = tuple ?? {};
  const parent: unknown = parentConfig?.configurable?.["checkpoint_id"];
  return throughJson(plain({ checkpoint, metadata, parent }));
}

function throughJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

function placeOf({ configurable = {} }: RunnableConfig): string {
  return `${String(configurable["checkpoint_ns"])} ${String(configurable["checkpoint_id"])}`;
}

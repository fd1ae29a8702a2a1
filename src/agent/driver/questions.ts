import {
  type BaseCheckpointSaver,
  type CheckpointTuple,
  INTERRUPT,
  RESUME,
} from "@langchain/langgraph-checkpoint";

import type { GraphQuestion } from "../../exchange/events.ts";
import { commandOf, type GraphInput } from "./graph-input.ts";
import { NO_TASK } from "./task-writes.ts";

/** A LangGraph interrupt. */
export function questionOf(interrupt: { id?: string; value?: unknown }): GraphQuestion {
  return { id: interrupt.id ?? null, value: interrupt.value ?? null };
}

/** What a task asks. A question that is answered may have been taken up by the task since. */
interface AskedQuestion extends GraphQuestion {
  /** Where its answer is kept: a task may ask again under the same id. */
  readonly key: string;
  /** In an array, because an answer may be anything. */
  readonly answer: readonly [unknown] | null;
}

function askedBy(task: string, { pendingWrites = [] }: CheckpointTuple): readonly AskedQuestion[] {
  const written = (id: string, name: string): readonly unknown[] =>
    pendingWrites.filter((write) => write[0] === id && write[1] === name).map((write) => write[2]);
  const taken = written(task, RESUME).flat().length;
  return written(task, INTERRUPT).flatMap((interrupts) =>
    (interrupts as { id?: string; value?: unknown }[]).map((interrupt) => {
      const key = `${interrupt.id ?? ""}:${taken}`;
      const [answer] = written(key, RESUME);
      return { ...questionOf(interrupt), key, answer: Array.isArray(answer) ? [answer[0]] : null };
    }),
  );
}

/** What a task asks and nobody has answered. */
export function openQuestions(task: string, tuple: CheckpointTuple): readonly GraphQuestion[] {
  // LangGraph keeps an answer that names no interrupt so; a task that has stored answers has taken it up
  const isAnswered = hasResume(NO_TASK, tuple) && !hasResume(task, tuple);
  return askedBy(task, tuple).flatMap(({ id, value, answer }) =>
    isAnswered || answer !== null ? [] : [{ id, value }],
  );
}

function hasResume(id: string, { pendingWrites = [] }: CheckpointTuple): boolean {
  return pendingWrites.some((write) => write[0] === id && write[1] === RESUME);
}

export interface Answering {
  readonly input: Exclude<GraphInput, { kind: "new" }>;
  /** The tasks that are to run, and those that were closed. */
  readonly tasks: readonly string[];
  readonly closed: readonly string[];
  readonly saver: BaseCheckpointSaver;
  readonly tuple: CheckpointTuple;
}

/**
 * What LangGraph gets to continue with. Answers are durable before anything runs with them, and are
 * given again after a kill: LangGraph itself does not wait until it has stored them, and keeps those
 * that name their interrupts for itself.
 */
export async function withAnswers(answering: Answering): Promise<unknown> {
  const { input, tasks, closed, saver, tuple } = answering;
  const asked = tasks.flatMap((task) => askedBy(task, tuple));
  const command = input.kind === "command" ? input.command : null;
  if (command !== null && !(input.kind === "command" && input.resumes)) {
    return command;
  }
  if (asked.length === 0 && closed.some((task) => askedBy(task, tuple).length > 0)) {
    return command === null ? null : withResume(command, undefined);
  }
  if (asked.length === 0 || asked.some(({ id }) => id === null) || hasResume(NO_TASK, tuple)) {
    return command;
  }
  const given = command === null ? {} : resumeMap(Reflect.get(command, "resume"), asked);
  for (const { id, key } of asked) {
    if (id !== null && Object.hasOwn(given, id)) {
      await saver.putWrites(tuple.config, [[RESUME, [given[id]]]], key, "");
    }
  }
  const stored = asked.flatMap(({ id, answer }) => (answer === null ? [] : [[id, answer[0]]]));
  const resume: Record<string, unknown> = { ...Object.fromEntries(stored), ...given };
  if (command !== null) {
    return withResume(command, resume);
  }
  return stored.length === 0 ? null : commandOf(resume);
}

/** The answers by interrupt: LangGraph gives one that names no interrupt to all. */
function resumeMap(
  resume: unknown,
  asked: readonly AskedQuestion[],
): Readonly<Record<string, unknown>> {
  const isMap =
    typeof resume === "object" &&
    resume !== null &&
    Object.keys(resume).length > 0 &&
    Object.keys(resume).every((key) => /^[0-9a-f]{32}$/.test(key));
  return isMap
    ? (resume as Readonly<Record<string, unknown>>)
    : Object.fromEntries(asked.map(({ id }) => [id, resume]));
}

/** A copy: the caller may use its Command again. */
function withResume(command: object, resume: unknown): object | null {
  const has = ["update", "goto"].some((name) => {
    const value: unknown = Reflect.get(command, name);
    return value !== undefined && !(Array.isArray(value) && value.length === 0);
  });
  if (resume === undefined && !has) {
    return null;
  }
  const copy = Object.create(Object.getPrototypeOf(command) as object) as object;
  return Object.assign(copy, command, { resume });
}

import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { StateSnapshot } from "@langchain/langgraph";

import type { Message } from "../../core/sessions.ts";
import type { GraphQuestion } from "../../exchange/events.ts";
import type { RepeatAsking, Suspects } from "../permit/repeating.ts";

/** A config that names a thread. */
export interface ThreadConfig {
  readonly configurable: { readonly thread_id: string };
}

export interface Runnable {
  stream(input: unknown, config: object): Promise<AsyncIterable<unknown>>;
}

/** Members of a compiled graph that are used. */
export interface StateGraph extends Runnable {
  readonly channels: Readonly<Record<string, unknown>>;
  readonly nodes: Readonly<Record<string, unknown>>;
  getState(config: ThreadConfig): Promise<StateSnapshot>;
  updateState(config: ThreadConfig, values: object, asNode: string): Promise<unknown>;
}

/** The state is read from `graph`, and `runnable` runs it: an agent of LangChain has its graph inside. */
export interface RunnableGraph {
  readonly runnable: Runnable;
  readonly graph: StateGraph;
}

/** An agent in one exchange: the built-in one, or a graph that is not ours. */
export interface DrivenAgent extends RunnableGraph {
  /** Gives the calls that were left open their results, so that a new message can follow. */
  closeOpen(): Promise<void>;
  /** Called once the exchange is stored as begun. Throws if the agent cannot run. */
  begun?(): Promise<void>;
  /** Returns what the graph is given, with the messages that it has not seen, or a promise of it. */
  inputOf(pending: readonly Message[]): unknown;
  /** Returns what an exchange that is continued left undone; null for nothing. */
  undone(pending: readonly Message[]): Promise<Undone | NextInput | null>;
  /** How a person is asked whether calls may run again. */
  readonly repeats: Pick<RepeatAsking, "default" | "conceal">;
  /** Returns the text of the last complete answer. */
  answer(): string;
  /** Returns who hears the graph. `answered` is called once its last answer only has to be stored. */
  hearing(answered: () => void): Hearing;
  /** Makes it possible to run on from the latest checkpoint, or throws why the exchange fails. */
  recover(error: unknown): Promise<void>;
  /** Keeps what had arrived of an answer when the exchange was stopped, and returns its text; empty for none. */
  keepStopped(): Promise<string>;
  /** True if its questions are in the store, false if its caller gets them. */
  readonly storesQuestions: boolean;
}

export interface Hearing {
  readonly handler: BaseCallbackHandler;
  /** They also hear what is called with other callbacks than those of the graph. */
  readonly everywhere: readonly BaseCallbackHandler[];
  /** Aborted, with the error as its reason, once the agent may not run on. */
  readonly refused?: AbortSignal;
  /** The graph's own if it is not given. */
  readonly recursionLimit?: number;
}

/** Work that an exchange did not finish. */
export interface Undone {
  /** Calls that need a yes to run again. */
  readonly suspects: Suspects;
  /** Returns what the graph is given to run on. With `closes`, the suspects get the result "outcome unknown" before. */
  runOn(how: { readonly closes: boolean }): Promise<unknown>;
}

/** Input of the graph, or the end of the exchange without running it. */
export type NextInput = { readonly input: unknown } | ExchangeEnd;

/** How an exchange ended, if it did not fail. */
export type ExchangeEnd =
  | { readonly state: "done" | "stopped"; readonly answer: string }
  /** Without interrupts, it waits for the answer to a stored question. */
  | { readonly state: "waiting"; readonly interrupts?: readonly GraphQuestion[] };

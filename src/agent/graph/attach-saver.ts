import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import { isRepriseError, RepriseError } from "../../core/errors.ts";
import type { Runnable, RunnableGraph, StateGraph } from "../driver/driven-agent.ts";

/** Members of a compiled graph that are used. */
export interface AttachedGraph extends RunnableGraph {
  readonly name: string | null;
}

/**
 * The caller's graph with a saver: one that the caller's function made with it, or a copy of a graph
 * that was compiled without one. The caller's own graph is not changed.
 *
 * Error codes: `graph_unsuitable`; `agent_failed` with what the caller's code throws as the cause.
 */
export async function attachSaver(
  given: unknown,
  saver: BaseCheckpointSaver,
): Promise<AttachedGraph> {
  try {
    return await attach(given, saver);
  } catch (error) {
    throw isRepriseError(error)
      ? error
      : new RepriseError(
          "agent_failed",
          "The agent's own code failed when it made the graph. Fix it, then try again.",
          { cause: error },
        );
  }
}

async function attach(given: unknown, saver: BaseCheckpointSaver): Promise<AttachedGraph> {
  const made: unknown = isFactory(given) ? await given(saver) : given;
  if (!isRunnable(made)) {
    throw unsuitable(
      "This is not a compiled graph. Give a graph that LangGraph compiled, or a function that takes the checkpointer and returns one.",
    );
  }
  const own = made.checkpointer;
  if (own === saver) {
    return checked(made);
  }
  if (own === true || (typeof own === "object" && own !== null)) {
    throw unsuitable(
      "The graph has another checkpointer. Compile it without one, or give a function that takes the checkpointer.",
    );
  }
  // a copy, as LangGraph and LangChain make one
  const copy: unknown = made.withConfig({});
  if (!isRunnable(copy)) {
    throw unsuitable("The graph cannot be copied. Give a function that takes the checkpointer.");
  }
  copy.checkpointer = saver;
  return checked(copy);
}

interface GivenRunnable extends Runnable {
  checkpointer?: unknown;
  readonly name?: unknown;
  readonly graph?: unknown;
  withConfig(config: object): unknown;
}

function isFactory(value: unknown): value is (saver: BaseCheckpointSaver) => unknown {
  return typeof value === "function";
}

function isRunnable(value: unknown): value is GivenRunnable {
  return has(value, "stream", "withConfig");
}

function isStateGraph(value: unknown): value is StateGraph {
  return (
    has(value, "stream", "getState", "updateState") &&
    isRecord(Reflect.get(value, "channels")) &&
    isRecord(Reflect.get(value, "nodes"))
  );
}

/** An agent of LangChain has its graph inside. */
function checked(runnable: GivenRunnable): AttachedGraph {
  const graph = isStateGraph(runnable) ? runnable : runnable.graph;
  if (!isStateGraph(graph)) {
    throw unsuitable("This is not a compiled graph. Give a graph that LangGraph compiled.");
  }
  const messages = graph.channels["messages"];
  if (messages === undefined) {
    throw unsuitable(
      "The graph keeps no messages, so a session cannot show them. Give its state a `messages` channel; a workflow of the functional API has none.",
    );
  }
  if (isRecord(messages) && messages["lc_graph_name"] === "DeltaChannel") {
    throw unsuitable(
      "The graph keeps its messages in a DeltaChannel, which a session cannot show. Use MessagesValue or MessagesAnnotation.",
    );
  }
  return { name: nameOf(runnable) ?? nameOf(graph), runnable, graph };
}

/** LangGraph names every graph that has no name after itself. */
function nameOf(runnable: object): string | null {
  const options: unknown = Reflect.get(runnable, "options");
  const name: unknown =
    (isRecord(options) ? options["name"] : undefined) ?? Reflect.get(runnable, "name");
  return typeof name === "string" && name !== "" && name !== "LangGraph" ? name : null;
}

function has(value: unknown, ...methods: readonly string[]): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    methods.every((name) => typeof Reflect.get(value, name) === "function")
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function unsuitable(sentence: string): RepriseError {
  return new RepriseError("graph_unsuitable", sentence);
}

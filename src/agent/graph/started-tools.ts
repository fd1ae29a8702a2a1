import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";

import { newId } from "../../core/ids.ts";
import { keepAsked, keepStart, type RootCheckpoint, startsIn } from "../messages/begun-calls.ts";
import type { LateSaver } from "./late-saver.ts";
import { taskOf } from "./subgraph-states.ts";
import { isDone } from "../driver/task-writes.ts";
import type { ThreadConfig } from "../driver/driven-agent.ts";

/** A tool that began and whose task has not finished, so that LangGraph would run it again. */
export interface StartedTool {
  /** Id of the call; empty if the graph called the tool without one. */
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  /** Different for each time that the exchange was continued. */
  readonly attempt: string;
  /** Task of the root graph in which it began. */
  readonly task: string;
  /** True if it began in a subgraph, or in a graph that the task or another tool runs. */
  readonly isNested: boolean;
}

/**
 * Stores that a tool begins before it begins, wherever it does: only then is it known after a kill
 * which tools may have taken effect. What the tool is run with is stored before, too.
 */
export class ToolRecorder extends BaseCallbackHandler {
  readonly name = "reprise_tool_recorder";
  override awaitHandlers = true;
  override raiseError = true;
  override ignoreLLM = true;
  override ignoreChain = true;
  override ignoreRetriever = true;
  override ignoreCustomEvent = true;
  readonly #saver: LateSaver;
  readonly #threadId: string;
  readonly #attempt = newId();

  constructor(saver: LateSaver, { configurable }: ThreadConfig) {
    super();
    this.#saver = saver;
    this.#threadId = configurable.thread_id;
  }

  override async handleToolStart(
    ...given: Parameters<NonNullable<BaseCallbackHandler["handleToolStart"]>>
  ): Promise<void> {
    const [tool, args, runId, , , metadata = {}, name, id] = given;
    const { langgraph_checkpoint_ns: ns } = metadata;
    const path = (typeof ns === "string" ? ns : "").split("|");
    const namespaces = path.slice(1).map((_, index) => path.slice(0, index + 1).join("|"));
    await this.#saver.settled(this.#threadId, ["", ...namespaces]);
    const heads = this.#saver.heads(this.#threadId);
    await keepStart(this.#root(), runId, {
      id: id ?? "",
      name: name ?? tool.id.at(-1) ?? "",
      args,
      attempt: this.#attempt,
      tasks: path.map(taskOf),
      graphs: namespaces.flatMap((ns) => {
        const head = heads.get(ns);
        return head === undefined ? [] : [[ns, head] as const];
      }),
    });
  }

  override async handleToolError(error: unknown, runId: string): Promise<void> {
    // it asks a person, and LangGraph runs it again with the answer
    if (isQuestion(error)) {
      await keepAsked(this.#root(), runId);
    }
  }

  #root(): RootCheckpoint {
    const checkpoint_id = this.#saver.heads(this.#threadId).get("");
    return { saver: this.#saver, thread_id: this.#threadId, checkpoint_id };
  }
}

/**
 * The tools that began since the root's checkpoint and would begin again if the graph ran on. One
 * that asked a person is not among them: answering is what runs it again.
 */
export async function startedTools(
  tuple: CheckpointTuple,
  saver: BaseCheckpointSaver,
  { configurable }: ThreadConfig,
): Promise<readonly StartedTool[]> {
  const heads = new Map<string, CheckpointTuple | undefined>();
  const headOf = async (checkpoint_ns: string) => {
    if (!heads.has(checkpoint_ns)) {
      heads.set(
        checkpoint_ns,
        await saver.getTuple({ configurable: { ...configurable, checkpoint_ns } }),
      );
    }
    return heads.get(checkpoint_ns);
  };
  const started: StartedTool[] = [];
  for (const { tasks, graphs, id, name, args, attempt = "" } of startsIn(tuple)) {
    let runsAgain = tasks.every((task) => !isDone(task, tuple.pendingWrites));
    for (const [ns, checkpointId] of graphs) {
      const head = await headOf(ns);
      runsAgain &&=
        head?.checkpoint.id === checkpointId &&
        tasks.every((task) => !isDone(task, head.pendingWrites));
    }
    if (runsAgain) {
      const [task = ""] = tasks;
      started.push({ id, name, args: argsOf(args), attempt, task, isNested: tasks.length > 1 });
    }
  }
  return started;
}

function argsOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** As LangGraph knows what ends a task without being an error of it, of whatever version it is. */
function isQuestion(error: unknown): boolean {
  return typeof error === "object" && error !== null && Reflect.get(error, "is_bubble_up") === true;
}

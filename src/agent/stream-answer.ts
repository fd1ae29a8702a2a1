import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import type { AgentThread } from "./agent.ts";
import { MODEL_NODE } from "./agent-graph.ts";
import { ArrivingTextHandler } from "./arriving-text.ts";
import { addSummary } from "./compaction/add-summary.ts";
import type { Compaction } from "./compaction/compaction.ts";
import type { ExchangeRequest, Live, Prepared } from "./exchange-parts.ts";
import type { HeldSession } from "./hold-lease.ts";
import { modelFailure } from "./models/failure.ts";
import { followStream, type Progress, showPiece } from "./stream-progress.ts";
import { messagesOf } from "./thread-state.ts";

/** Every hook and tool is a step; an agent that works for an hour takes thousands of them. */
const RECURSION_LIMIT = 10_000;

/** What the agent's graph is given: messages to add, or null to go on from its checkpoint. */
export type GraphInput = { readonly messages: BaseMessage[] } | null;

export interface StreamInput {
  readonly request: Pick<ExchangeRequest, "keep_partial">;
  readonly live: Live;
  readonly held: HeldSession;
  readonly saver: BaseCheckpointSaver;
  readonly prepared: Prepared;
  readonly thread: AgentThread;
  readonly graphInput: GraphInput;
  readonly signal: AbortSignal;
  readonly compaction: Compaction;
}

/**
 * The agent's work on its input. Where older messages have to be summarised first, that is done in
 * between, and the agent goes on from its checkpoint. Stopped, it keeps the text that had arrived.
 *
 * Error codes: `lease_lost`, `session_ended`, `model_*`, `database_*`.
 */
export async function streamAnswer(
  input: StreamInput,
): Promise<{ text: string; stopped: boolean }> {
  const { held, live, thread } = input;
  let { graphInput } = input;
  for (;;) {
    const progress: Progress = { text: "", partial: "" };
    try {
      const stream = await thread.agent.stream(graphInput, {
        configurable: { thread_id: thread.id },
        streamMode: "updates",
        callbacks: [
          new ArrivingTextHandler({
            node: MODEL_NODE,
            heard: (text) => showPiece({ listener: live.listener, progress }, text),
          }),
        ],
        durability: "sync",
        recursionLimit: RECURSION_LIMIT,
        signal: input.signal,
      });
      await followStream({ stream, listener: live.listener, progress });
      return { text: progress.text, stopped: false };
    } catch (error) {
      if (held.lost.aborted) {
        throw held.lost.reason;
      }
      if (live.signal.aborted) {
        const text = input.request.keep_partial === false ? "" : progress.partial;
        await keepPartial(thread, text);
        return { text, stopped: true };
      }
      await makeRoom(input, error);
      graphInput = null;
    }
  }
}

/** Compacts the thread where that is what the agent failed for. Throws what it failed for otherwise. */
async function makeRoom({ compaction, thread, saver, prepared }: StreamInput, error: unknown) {
  const failure = modelFailure(error, prepared.modelName);
  const full = failure.code === "model_context_full";
  if (!full && !compaction.isDue()) {
    throw failure;
  }
  const messages = messagesOf(await saver.getTuple({ configurable: { thread_id: thread.id } }));
  const summary = await compaction.relieve(messages, full);
  if (summary === null) {
    throw failure;
  }
  if (summary !== "go_on") {
    await addSummary(thread, summary);
  }
}

/** The text that had arrived when the exchange was stopped becomes the answer. */
async function keepPartial({ agent, id }: AgentThread, text: string): Promise<void> {
  if (text !== "") {
    const message = new AIMessage({ content: text, response_metadata: { stopped: true } });
    const config = { configurable: { thread_id: id } };
    await agent.updateState(config, { messages: [message] }, MODEL_NODE);
  }
}

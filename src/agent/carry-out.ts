import type { StructuredToolInterface } from "@langchain/core/tools";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import { RepriseError } from "../core/errors.ts";
import type { Message, Session } from "../core/sessions.ts";
import { threadId } from "../core/threads.ts";
import { beginExchange } from "../store/messages/begin-exchange.ts";
import { readMessagesAfter } from "../store/messages/read.ts";
import { readSession } from "../store/sessions/read.ts";
import { buildAgent, type SessionAgent } from "./agent.ts";
import type { ExchangeRequest, ExchangerParts, Live, Prepared } from "./exchange-parts.ts";
import type { ExchangeResult } from "./exchange-event.ts";
import type { HeldSession } from "./hold-lease.ts";
import { modelFailure } from "./models/failure.ts";
import { followStream, type Progress } from "./stream-progress.ts";
import { mayBeRepeated, readThread, settled, type ThreadState } from "./thread-state.ts";

export interface CarryOutInput {
  readonly parts: ExchangerParts;
  readonly request: ExchangeRequest;
  readonly live: Live;
  readonly held: HeldSession;
  readonly saver: BaseCheckpointSaver;
  readonly prepared: Prepared;
  /** The tool that delegates; null where sub-agents may go no deeper. */
  readonly subAgents: (session: Session) => StructuredToolInterface | null;
}

export interface CarriedOut {
  readonly result: ExchangeResult;
  /** False where the agent still has something to do: the session is then interrupted. */
  readonly finished: boolean;
}

/** Every hook and tool is a step; an agent that works for an hour takes thousands of them. */
const RECURSION_LIMIT = 10_000;
/** Rows of one exchange that its result carries. */
const RESULT_ROWS = 1000;
/** The node of langchain's agent that calls the model. */
const MODEL_NODE = "model_request";

/** The node of langchain's agent that carries out tools; an agent without tools has none. */
const TOOLS_NODE = "tools";

/** What the agent's graph is given: messages to add, or null to go on from its checkpoint. */
type GraphInput = { readonly messages: BaseMessage[] } | null;

/** The exchange between taking the lease and giving it back. */
export async function carryOut(input: CarryOutInput): Promise<CarriedOut> {
  const { parts, request, held, prepared } = input;
  const before = await parts.store.read(readSession, { id: request.session_id });
  const agent = buildAgent({
    ...prepared,
    session: before,
    saver: input.saver,
    delegate: input.subAgents(before),
    protectedPaths: parts.protectedPaths,
  });
  const thread = { agent, id: threadId(before.id, before.thread_suffix) };
  const state = await readThread(input.saver, thread.id);
  if (request.text !== null) {
    await settle(thread, state);
  }
  const { session, pending } = await parts.store.write(beginExchange, {
    fence: held.fence,
    content: request.text,
    model: prepared.modelName,
    persona_name: prepared.persona.name,
  });
  input.live.listener({ kind: "begun", session, model: prepared.modelName });
  const next = await nextInput({ ...input, state, pending, thread });
  const progress =
    next === "done"
      ? { text: state.answer, stopped: false }
      : await streamAnswer({ ...input, thread, graphInput: next });
  return {
    finished: !progress.stopped || progress.text !== "",
    result: await resultOf({ ...input, before, thread, progress }),
  };
}

interface AgentThread {
  readonly agent: SessionAgent;
  readonly id: string;
}

/** Gives every call that was left open its result, in a checkpoint and the mirror alike. */
async function settle({ agent, id }: AgentThread, state: ThreadState): Promise<void> {
  if (state.openCalls.length > 0) {
    const node = TOOLS_NODE in agent.graph.nodes ? TOOLS_NODE : MODEL_NODE;
    const messages = settled(state);
    await agent.graph.updateState({ configurable: { thread_id: id } }, { messages }, node);
  }
}

/**
 * What the agent gets next. A message, new or appended through the API, goes past whatever was
 * interrupted. To continue means to go on from the checkpoint; calls that may not be repeated are
 * settled unless somebody says yes.
 */
async function nextInput(
  input: CarryOutInput & {
    state: ThreadState;
    pending: readonly Message[];
    thread: AgentThread;
  },
): Promise<GraphInput | "done"> {
  const { state, pending, request, live, thread } = input;
  const messages = pending.map(
    ({ message_id, content }) => new HumanMessage({ id: message_id, content }),
  );
  if (request.text !== null) {
    return { messages };
  }
  const { next } = await thread.agent.graph.getState({ configurable: { thread_id: thread.id } });
  if (next.length > 0) {
    const unsafe = state.openCalls.filter((call) => !mayBeRepeated(call));
    if (unsafe.length > 0 && (await live.mayRepeat?.(unsafe)) !== true) {
      await settle(thread, state);
    }
    return null;
  }
  if (messages.length > 0) {
    return { messages };
  }
  if (input.held.wasInterrupted) {
    // killed between its last checkpoint and the release of its lease: nothing is missing
    return "done";
  }
  throw new RepriseError(
    "nothing_to_continue",
    "Nothing was interrupted in this session and no message waits for the agent; send one.",
  );
}

async function streamAnswer(
  input: CarryOutInput & { thread: AgentThread; graphInput: GraphInput },
): Promise<{ text: string; stopped: boolean }> {
  const { held, live, prepared } = input;
  const { agent, id } = input.thread;
  const config = { configurable: { thread_id: id } };
  const progress: Progress = { text: "", partial: "" };
  try {
    const stream = await agent.stream(input.graphInput, {
      ...config,
      streamMode: ["messages", "updates"],
      durability: "sync",
      recursionLimit: RECURSION_LIMIT,
      signal: AbortSignal.any([live.signal, held.lost]),
    });
    await followStream({ stream, node: MODEL_NODE, listener: live.listener, progress });
    return { text: progress.text, stopped: false };
  } catch (error) {
    if (held.lost.aborted) {
      throw held.lost.reason;
    }
    if (!live.signal.aborted) {
      throw modelFailure(error, prepared.modelName);
    }
    const text = input.request.keep_partial === false ? "" : progress.partial;
    await keepPartial(agent, config, text);
    return { text, stopped: true };
  }
}

/** The text that had arrived when the exchange was stopped becomes the answer. */
async function keepPartial(
  agent: SessionAgent,
  config: { configurable: { thread_id: string } },
  text: string,
): Promise<void> {
  if (text !== "") {
    const message = new AIMessage({ content: text, response_metadata: { stopped: true } });
    await agent.graph.updateState(config, { messages: [message] }, MODEL_NODE);
  }
}

async function resultOf(
  input: CarryOutInput & {
    before: Session;
    thread: AgentThread;
    progress: { text: string; stopped: boolean };
  },
): Promise<ExchangeResult> {
  const { parts, before } = input;
  return {
    session: await parts.store.read(readSession, { id: before.id }),
    thread_id: input.thread.id,
    model: input.prepared.modelName,
    answer: input.progress.text,
    stopped: input.progress.stopped,
    messages: await parts.store.read(readMessagesAfter, {
      session_id: before.id,
      after_seq: before.last_seq,
      all: true,
      limit: RESULT_ROWS,
    }),
  };
}

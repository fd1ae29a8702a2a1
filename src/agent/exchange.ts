import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import { RepriseError } from "../core/errors.ts";
import { LEASE_MS } from "../core/limits.ts";
import type { Message } from "../core/sessions.ts";
import { threadId } from "../core/threads.ts";
import type { Fence } from "../store/leases/fence.ts";
import type { LeaseOwner } from "../store/leases/lease.ts";
import { beginExchange } from "../store/messages/begin-exchange.ts";
import { readMessagesAfter } from "../store/messages/read.ts";
import { refuseEnded } from "../store/sessions/change.ts";
import { readSession } from "../store/sessions/read.ts";
import type { Store } from "../store/store.ts";
import { buildAgent, type SessionAgent } from "./agent.ts";
import { createCheckpointSaver } from "./checkpoints/saver.ts";
import type { ExchangeListener, ExchangeResult } from "./exchange-event.ts";
import { type HeldSession, holdLease } from "./hold-lease.ts";
import { defaultModel, type ModelConfig } from "./models/config.ts";
import { modelFailure } from "./models/failure.ts";
import { openModel } from "./models/open.ts";
import { loadPersona } from "./personas/load.ts";
import type { PersonaPlaces } from "./personas/places.ts";
import { repoInstructions } from "./personas/repo-instructions.ts";
import { followStream, type Progress } from "./stream-progress.ts";
import { isGone } from "./this-process.ts";
import { settleOpenCalls } from "./thread-state.ts";

export interface ExchangerParts {
  readonly store: Store;
  readonly models: ModelConfig;
  readonly personas: PersonaPlaces;
  /** Paths that no tool may touch even inside the repo: the database, configuration, personas. */
  readonly protectedPaths: readonly string[];
  readonly owner: LeaseOwner;
}

export interface ExchangeRequest {
  readonly session_id: string;
  /** The user's message; null hands over only what was appended through the API. */
  readonly text: string | null;
}

export interface Live {
  readonly listener: ExchangeListener;
  /** Aborting stops the exchange and keeps the text that had arrived; the session stays good. */
  readonly signal: AbortSignal;
}

export interface Exchanger {
  /**
   * Carries out one exchange. The user's row is durable before the model is called; every
   * checkpoint commits together with its rows in the mirror.
   *
   * Error codes: `session_not_found`, `session_ended`, `session_busy`, `lease_lost`,
   * `persona_*`, `model_*`, `nothing_to_continue`, `database_*`.
   */
  exchange(request: ExchangeRequest, live: Live): Promise<ExchangeResult>;
}

/** Every hook and tool is a step; an agent that works for an hour takes thousands of them. */
const RECURSION_LIMIT = 10_000;
/** Rows of one exchange that its result carries. */
const RESULT_ROWS = 1000;
/** The node of langchain's agent that calls the model. */
const MODEL_NODE = "model_request";

/** Carries out exchanges, one at a time; the checkpoint store stays open between them. */
export function createExchanger(parts: ExchangerParts): Exchanger {
  let fence: Fence | null = null;
  const saver = createCheckpointSaver({ store: parts.store, fence: () => fence });
  return {
    exchange: async (request, live) => {
      const prepared = await prepare(parts, request);
      const held = await holdLease({
        store: parts.store,
        session_id: request.session_id,
        owner: { ...parts.owner, since: new Date().toISOString() },
        life_ms: LEASE_MS,
        isGone,
      });
      fence = held.fence;
      let finished = false;
      try {
        const result = await carryOut({ parts, request, live, held, saver, prepared });
        finished = !result.unfinished;
        return result.result;
      } finally {
        fence = null;
        await held.release(finished);
      }
    },
  };
}

interface Prepared {
  readonly model: Awaited<ReturnType<typeof openModel>>;
  readonly modelName: string;
  readonly persona: Awaited<ReturnType<typeof loadPersona>>;
  readonly instructions: string | null;
}

/** All that can be refused before anything is stored: so a message is not stored twice. */
async function prepare(parts: ExchangerParts, request: ExchangeRequest): Promise<Prepared> {
  const session = await parts.store.read(readSession, { id: request.session_id });
  refuseEnded(session);
  const persona = await loadPersona({
    name: session.persona_name ?? "assistant",
    repoPath: session.repo_path,
    ...parts.personas,
  });
  const modelName = session.model ?? persona.model ?? defaultModel(parts.models);
  return {
    persona,
    modelName,
    model: await openModel({ name: modelName, config: parts.models }),
    instructions: session.repo_path === null ? null : await repoInstructions(session.repo_path),
  };
}

interface CarryOut {
  readonly parts: ExchangerParts;
  readonly request: ExchangeRequest;
  readonly live: Live;
  readonly held: HeldSession;
  readonly saver: BaseCheckpointSaver;
  readonly prepared: Prepared;
}

async function carryOut(input: CarryOut): Promise<{ result: ExchangeResult; unfinished: boolean }> {
  const { parts, request, live, held, saver, prepared } = input;
  const before = await parts.store.read(readSession, { id: request.session_id });
  const { session, pending } = await parts.store.write(beginExchange, {
    fence: held.fence,
    content: request.text,
    model: prepared.modelName,
    persona_name: prepared.persona.name,
  });
  live.listener({ kind: "begun", session, model: prepared.modelName });
  const agent = buildAgent({ ...prepared, session, saver, protectedPaths: parts.protectedPaths });
  const thread = threadId(session.id, session.thread_suffix);
  const messages = await handOver({ saver, thread, pending });
  const progress = await streamAnswer({ ...input, agent, thread, messages });
  return {
    unfinished: progress.stopped && progress.text === "",
    result: {
      session: await parts.store.read(readSession, { id: session.id }),
      thread_id: thread,
      model: prepared.modelName,
      answer: progress.text,
      stopped: progress.stopped,
      messages: await parts.store.read(readMessagesAfter, {
        session_id: session.id,
        after_seq: before.last_seq,
        all: true,
        limit: RESULT_ROWS,
      }),
    },
  };
}

/** What the agent gets: results for calls that were left open, then every pending message. */
async function handOver(input: {
  saver: BaseCheckpointSaver;
  thread: string;
  pending: readonly Message[];
}): Promise<BaseMessage[]> {
  if (input.pending.length === 0) {
    throw new RepriseError(
      "nothing_to_continue",
      "No message waits for the agent in this session; send one.",
    );
  }
  const settled = await settleOpenCalls(input.saver, input.thread);
  return [
    ...settled,
    ...input.pending.map(
      ({ message_id, content }) => new HumanMessage({ id: message_id, content }),
    ),
  ];
}

async function streamAnswer(
  input: CarryOut & { agent: SessionAgent; thread: string; messages: BaseMessage[] },
): Promise<Progress & { stopped: boolean }> {
  const { agent, held, live, messages, prepared } = input;
  const config = { configurable: { thread_id: input.thread } };
  const progress: Progress = { text: "", partial: "" };
  try {
    const stream = await agent.stream(
      { messages },
      {
        ...config,
        streamMode: ["messages", "updates"],
        durability: "sync",
        recursionLimit: RECURSION_LIMIT,
        signal: AbortSignal.any([live.signal, held.lost]),
      },
    );
    await followStream({ stream, node: MODEL_NODE, listener: live.listener, progress });
    return { ...progress, stopped: false };
  } catch (error) {
    if (held.lost.aborted) {
      throw held.lost.reason;
    }
    if (!live.signal.aborted) {
      throw modelFailure(error, prepared.modelName);
    }
    await keepPartial(agent, config, progress.partial);
    return { ...progress, text: progress.partial, stopped: true };
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

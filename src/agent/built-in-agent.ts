import {
  AIMessage,
  type AIMessageFields,
  type BaseMessage,
  HumanMessage,
  type ToolMessage,
} from "@langchain/core/messages";

import { factsOfCall } from "../core/calls.ts";
import type { ErrorCode } from "../core/errors.ts";
import { isDelegated } from "../core/session-tree.ts";
import type { Message } from "../core/sessions.ts";
import type { ToolSet } from "../core/tools.ts";
import { refuseMissingFolder } from "../workspace/files/is-folder.ts";
import { nothingToContinue } from "../exchange/nothing-to-continue.ts";
import type { AgentThread } from "./agent.ts";
import type { AnswerProgress } from "./messages/answer-progress.ts";
import { MODEL_NODE, TOOLS_NODE } from "./agent-graph.ts";
import { unfinishedError } from "./messages/ended-answer.ts";
import { AnswerHandler } from "./messages/token-stream.ts";
import { addSummary } from "./add-summary.ts";
import type { Compaction } from "./compaction/compaction.ts";
import { viewOf } from "./compaction/view.ts";
import { withHookNote } from "./messages/hook-text.ts";
import { noted } from "./prefix/note.ts";
import { PREFIX_CHANNEL, type ThreadPrefix } from "./prefix/prefix.ts";
import type { DrivenAgent, Undone } from "./driver/driven-agent.ts";
import { isPassing } from "../exchange/exchange-failure.ts";
import { isGivenBack } from "../exchange/exchanger.ts";
import type { ExchangeContext } from "./exchange-context.ts";
import { modelFailure } from "./models/failure.ts";
import {
  droppedFields,
  mayBeRepeated,
  messagesOf,
  type OpenCall,
  type ThreadState,
  withResults,
} from "./messages/thread-state.ts";

/** Every hook and tool is a step; an agent that works for an hour takes thousands of them. */
const RECURSION_LIMIT = 10_000;

export interface BuiltIn {
  readonly context: ExchangeContext;
  readonly thread: AgentThread;
  readonly prefix: ThreadPrefix;
  readonly compaction: Compaction;
  readonly progress: AnswerProgress;
  /** What the open calls have kept, by their ids. */
  readonly kept: () => Promise<ReadonlyMap<string, unknown>>;
  /** As `attachments`. */
  readonly attach: (text: string) => Promise<string | null>;
}

/**
 * The built-in agent, as it is driven. If older messages have to be summarised first, that happens in between.
 * Keeps the text so far if it is stopped or its provider fails.
 */
export function builtInAgent(builtIn: BuiltIn): DrivenAgent {
  const { thread, progress, context } = builtIn;
  const { openCalls, notBegun } = context.state;
  return {
    runnable: thread.agent,
    graph: thread.agent,
    storesQuestions: true,
    repeats: { default: context.options.defaultAnswer, conceal: context.prepared.conceal },
    closeOpen: async () => {
      // a checkpoint before this one may have what a call has kept, which so has begun
      const kept = await builtIn.kept();
      const still = new Set([...notBegun].filter((id) => !kept.has(id)));
      await closeCalls(thread, withResults(openCalls, still), { leavesOpen: false });
    },
    begun: () => requireFolder(context),
    inputOf: (pending) => inputOf(builtIn, pending),
    undone: (pending) => undone(builtIn, pending),
    answer: () => finishedText(builtIn),
    hearing: (answered) => ({
      // what the agent does besides is reported by its nodes
      handler: new AnswerHandler(progress.arriving, answered),
      everywhere: [],
      recursionLimit: RECURSION_LIMIT,
    }),
    recover: (error) => compactOrThrow(builtIn, error),
    keepStopped: () => keepPartial(builtIn, { response_metadata: { stopped: true } }),
  };
}

/** Error codes: `answer_cut`, `price_unknown`. */
function finishedText({ progress, context }: BuiltIn): string {
  const error = unfinishedError(progress.last()) ?? context.unpriced();
  if (error !== null) {
    throw error;
  }
  return progress.text();
}

/** Refuses an exchange of `-p` without its folder: nobody would see that the agent had no files. */
async function requireFolder({ options, request, held }: ExchangeContext): Promise<void> {
  const { repo_path } = held.session;
  const { asked_by, principal } = request;
  const isOfPrompt = options.within === undefined && (asked_by ?? principal?.origin) === "prompt";
  if (repo_path !== null && isOfPrompt) {
    await refuseMissingFolder(repo_path);
  }
}

/** The last message of the user gets the notes: what has changed for the model, what hooks report, and what it brings. */
async function inputOf(
  { context, prefix, attach }: BuiltIn,
  pending: readonly Message[],
): Promise<{ readonly messages: readonly BaseMessage[] }> {
  const { tuple } = context;
  const stored: unknown = tuple?.checkpoint.channel_values[PREFIX_CHANNEL];
  const note = prefix.note(stored, viewOf(messagesOf(tuple)));
  const last = pending.at(-1);
  const brought = await Promise.all(pending.map(({ content }) => attach(content)));
  const texts = [context.hooks?.hooks.note ?? null, ...brought];
  const beside = texts.filter((text) => text !== null).join("\n\n");
  return {
    messages: pending.map((message) => {
      const { message_id, content } = message;
      const written = new HumanMessage({ id: message_id, content });
      return message === last
        ? withHookNote(noted(written, note), {
            text: beside === "" ? null : beside,
            mark: context.prefixMark,
          })
        : written;
    }),
  };
}

/**
 * Returns what was interrupted. Pending messages abandon it if no call is open: the process of their exchange may
 * have died before the agent had them.
 */
async function undone(
  { context, thread }: BuiltIn,
  pending: readonly Message[],
): Promise<Undone | null> {
  const { options, state, held } = context;
  if (context.record() === null && isDelegated(held.session)) {
    // its thread may have calls that nobody waits for any more
    throw await nothingToContinue(options.store, held.fence.session_id);
  }
  const { agent, config } = thread;
  const { tasks } = await agent.getState(config);
  if (tasks.length === 0 || (pending.length > 0 && state.openCalls.length === 0)) {
    return null;
  }
  const suspects = state.openCalls.filter((call) => mayHaveActed(call, state, options.tools));
  return {
    suspects: {
      calls: suspects.map((call) => ({ ...call, ...factsOfCall(call, options.tools) })),
      begun: String(state.starts),
    },
    runOn: async ({ closes }) => {
      const closed = state.openCalls.filter(
        (call) => call.result !== null || suspects.includes(call) || !(TOOLS_NODE in agent.nodes),
      );
      if (closes) {
        const leavesOpen = closed.length < state.openCalls.length;
        await closeCalls(thread, withResults(closed), { leavesOpen });
      }
      return null;
    },
  };
}

/** True for a call that may have taken effect. */
function mayHaveActed(
  call: OpenCall,
  { notBegun, continuing }: ThreadState,
  tools: ToolSet,
): boolean {
  return (
    !mayBeRepeated(call, (name) => tools.get(name).repeatable) &&
    !notBegun.has(call.id) &&
    !continuing.has(call.id)
  );
}

/**
 * Gives these calls their results. If others stay open, it is done as the model: it then calls the tools
 * for those alone.
 */
async function closeCalls(
  { agent, config }: AgentThread,
  messages: readonly ToolMessage[],
  { leavesOpen }: { readonly leavesOpen: boolean },
): Promise<void> {
  if (messages.length > 0) {
    const node = TOOLS_NODE in agent.nodes && !leavesOpen ? TOOLS_NODE : MODEL_NODE;
    await agent.updateState(config, { messages }, node);
  }
}

/**
 * Compacts the thread if the agent failed because a summary is due. Throws what it failed for
 * otherwise; what a person saw of the answer is then kept.
 */
async function compactOrThrow(builtIn: BuiltIn, error: unknown): Promise<void> {
  const { compaction, thread, context } = builtIn;
  const { saver, prepared } = context;
  const failure = modelFailure(error, prepared.modelName, prepared.keyless);
  const full = failure.code === "model_context_full";
  if (isPassing(failure)) {
    // no answer of a provider has failed
    throw failure;
  }
  if (!full && !compaction.isDue()) {
    await keepPartial(builtIn, droppedFields(failure.code));
    throw failure;
  }
  const messages = messagesOf(await saver.getTuple(thread.config));
  const isFinal = context.live.textIsFinal === true && arrivedText(builtIn).text !== "";
  const summary = isFinal ? null : await compaction.compact(messages, full);
  if (summary === null) {
    await keepPartial(builtIn, droppedFields(failure.code));
    throw failure;
  }
  reportVoid(builtIn, failure.code);
  if (summary !== "continue") {
    await addSummary(thread, summary);
  }
}

/** Reports that what had arrived of an answer is void: the context was full before it was whole. */
function reportVoid(builtIn: BuiltIn, code: ErrorCode): void {
  const { id, text } = arrivedText(builtIn);
  if (text !== "") {
    const reason = "the model's context was full before its answer was whole";
    const retry = { attempt: 2, code, reason, delay_ms: 0 };
    builtIn.context.report({ type: "retry", message_id: id, ...retry });
  }
}

function arrivedText({ progress }: BuiltIn): { readonly id: string; readonly text: string } {
  return progress.arriving.broken() ?? { id: "", text: "" };
}

/**
 * The text that had arrived becomes the answer, in the place of what an earlier attempt left, and
 * is returned. Sub-agents keep none: their parent would take it for an answer.
 */
async function keepPartial(
  builtIn: BuiltIn,
  fields: Pick<AIMessageFields, "response_metadata" | "usage_metadata">,
): Promise<string> {
  const { thread, context } = builtIn;
  const { id, text } = arrivedText(builtIn);
  const isKept =
    context.request.keep_partial !== false &&
    !isGivenBack(context.request.claim !== undefined, context.live);
  if (text === "" || !isKept) {
    return "";
  }
  const message = new AIMessage({ ...fields, id, content: text });
  await thread.agent.updateState(thread.config, { messages: [message] }, MODEL_NODE);
  return text;
}

import { homedir } from "node:os";
import { isDelegated } from "../core/session-tree.ts";

import { HumanMessage, type ToolMessage } from "@langchain/core/messages";

import { threadId } from "../core/threads.ts";
import { factsOfCall } from "../core/calls.ts";
import type { ToolSet } from "../core/tools.ts";
import { type AgentThread, buildAgent } from "./agent.ts";
import { MODEL_NODE, TOOLS_NODE } from "./agent-graph.ts";
import { createAnswerProgress } from "./answer-progress.ts";
import { createCompaction } from "./compaction/compaction.ts";
import { delegateTool } from "./delegate.ts";
import { type Commands, createCommands } from "./commands/commands.ts";
import type { ExchangeContext } from "./exchange-context.ts";
import type { Worked } from "./thread-holder.ts";
import type { ExchangeResult } from "../exchange/events.ts";
import { refuseMissingFolder } from "../exchange/is-folder.ts";
import { nothingToContinue } from "../exchange/nothing-to-continue.ts";
import { reportStored } from "../exchange/report-events.ts";
import { createPermit } from "./permit.ts";
import { createPermitFiles } from "./permit-files.ts";
import { createKeeper } from "../exchange/undo/keeper.ts";
import { createCommandRecorder, settleLeft } from "../exchange/undo/commands/record-command.ts";
import type { BegunExchange } from "../store/messages/begin-exchange.ts";
import { mayRepeat } from "./repeating.ts";
import { createCallModel } from "./models/call-model.ts";
import { builtInAgent } from "./built-in-agent.ts";
import { driveGraph } from "./drive-graph.ts";
import type { ExchangeEnd } from "./driven-agent.ts";
import { mayBeRepeated, type OpenCall, withResults, type ThreadState } from "./thread-state.ts";

/**
 * The exchange between taking the lease and giving it back. No command and no sub-agent of it is
 * still running afterwards.
 */
export async function runExchange(context: ExchangeContext): Promise<Worked<ExchangeResult>> {
  const { options, held, prepared } = context;
  const given = options.commands;
  const commands =
    given === undefined || !prepared.mayRun
      ? null
      : createCommands(
          {
            ...given,
            environment: prepared.environment,
            visible: prepared.visible,
            limits: prepared.sandboxLimits,
          },
          {
            session_id: held.session.id,
            conceal: prepared.conceal,
          },
        );
  const children: Promise<unknown>[] = [];
  try {
    if (held.wasInterrupted) {
      await commands?.endLeftRunning();
    }
    const { store, kept } = options;
    await settleLeft({ store, kept, session_id: held.session.id }, { isHeld: true });
    return await runWith(context, commands, children);
  } finally {
    await Promise.allSettled(children);
    await commands?.end();
  }
}

async function runWith(
  context: ExchangeContext,
  commands: Commands | null,
  children: Promise<unknown>[],
): Promise<Worked<ExchangeResult>> {
  const { options, request, held, prepared, report, state } = context;
  const { session: before } = held;
  const thread_id = threadId(before.id, before.thread_suffix);
  if (request.text === null) {
    // before the first event, which names the exchange that is continued
    await context.begin();
  }
  report({
    type: "started",
    thread_id,
    model: prepared.modelName,
    persona_name: prepared.persona.name,
  });
  const progress = createAnswerProgress(report);
  const signal = AbortSignal.any([context.live.signal, held.lost]);
  const callModel = createCallModel({
    models: options.models,
    prepared,
    pauses: options.pauses,
    mayCall: context.mayCall,
    hasText: (id) => progress.arriving.has(id),
    textIsFinal: context.live.textIsFinal === true,
    report,
  });
  const compaction = createCompaction({
    model: prepared.model,
    window: prepared.window,
    signal,
    callModel,
    report,
  });
  const { asks = true, onDenied } = options.permission ?? {};
  const permitting = {
    store: options.store,
    session: before,
    n: () => context.record()?.n ?? null,
    judge: prepared.judge,
    onDenied,
  };
  const n = () => context.record()?.n ?? 0;
  const recording = { store: options.store, session_id: before.id, n, kept: options.kept };
  const agent = buildAgent({
    ...prepared,
    restricting: prepared.judge.restricting,
    configured: prepared.judge.protected,
    asks,
    permit: createPermit(permitting),
    permitFiles: createPermitFiles(permitting),
    keep: createKeeper({
      store: options.store,
      fence: held.fence,
      n,
      kept: options.kept,
    }),
    session: before,
    known: context.known,
    saver: context.saver,
    delegate: delegateTool(context, children),
    commands:
      commands === null
        ? null
        : {
            commands,
            record: createCommandRecorder(recording),
            onOutput: (call_id, text) =>
              context.live.onOutput?.({ call_id, text: prepared.conceal(text) }),
          },
    asking: { store: options.store, default: options.defaultAnswer },
    protectedPaths: options.protectedPaths,
    onDenied,
    gitUser: { home: homedir(), env: options.commands?.env ?? {} },
    tools: options.tools,
    programTools: options.programTools,
    checkPlan: options.checkPlan,
    callModel,
    askAtLimit: context.askAtLimit,
    compaction,
    made: options.made,
    onMessage: progress.onMessage,
  });
  const thread = { agent, config: { configurable: { thread_id } } };
  if (request.text !== null && held.begun === null) {
    await closeOpenCalls(thread, context);
  }
  const begun = await context.begin();
  reportStored(report, begun.pending);
  if (before.repo_path !== null && isOfPrompt(context)) {
    await refuseMissingFolder(before.repo_path);
  }
  const next = await nextInput(context, thread, begun);
  const end: ExchangeEnd =
    next === "done"
      ? { state: "done", answer: state.answer }
      : next === "waiting"
        ? { state: "waiting" }
        : await driveGraph(
            {
              thread: context,
              config: thread.config,
              signal: context.live.signal,
              agent: builtInAgent({ context, thread, compaction, progress }),
            },
            next,
          );
  // an answer in the place of a dropped one has its row
  const replacesDropped = request.text === null && state.isDropped;
  return {
    thread_id,
    finished: end.state === "done" || (end.state === "stopped" && end.answer !== ""),
    end: end.state,
    after_seq: before.last_seq - (replacesDropped ? 1 : 0),
    result: ({ session, messages }) => ({
      ...end,
      session,
      messages,
      thread_id,
      model: prepared.modelName,
    }),
  };
}

/** Gives every call that was left open its result, in a checkpoint and the mirror alike. */
async function closeOpenCalls(
  thread: AgentThread,
  { state: { openCalls, notBegun } }: ExchangeContext,
): Promise<void> {
  await closeCalls(thread, withResults(openCalls, notBegun), { leavesOpen: false });
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

/** True for an exchange of `-p`: nobody would see that the agent had no files. */
function isOfPrompt({ options, request }: ExchangeContext): boolean {
  const { asked_by, principal } = request;
  return options.within === undefined && (asked_by ?? principal?.origin) === "prompt";
}

/**
 * What the agent gets next. A new message abandons an interrupted exchange, and so do pending ones
 * if no call is open: the process of their exchange may have died before the agent had them. To continue
 * is else to resume from the checkpoint; calls that may have taken effect get the result "outcome unknown"
 * unless a person allows them: see `mayRepeat`. `waiting` if that has to be asked.
 */
async function nextInput(
  context: ExchangeContext,
  thread: AgentThread,
  { pending, record }: BegunExchange,
): Promise<{ readonly messages: HumanMessage[] } | null | "done" | "waiting"> {
  const { options, state, request, held } = context;
  const messages = pending.map(
    ({ message_id, content }) => new HumanMessage({ id: message_id, content }),
  );
  if (request.text !== null) {
    return { messages };
  }
  if (record === null && isDelegated(held.session)) {
    // its thread may have calls that nobody waits for any more
    throw await nothingToContinue(options.store, held.fence.session_id);
  }
  const { next } = await thread.agent.getState(thread.config);
  if (next.length > 0 && (messages.length === 0 || state.openCalls.length > 0)) {
    const suspects = state.openCalls.filter((call) => mayHaveActed(call, state, options.tools));
    const isAllowed = await mayRepeatOf(context, suspects);
    if (isAllowed === "open") {
      return "waiting";
    }
    if (isAllowed === "no") {
      const closed = state.openCalls.filter(
        (call) =>
          call.result !== null || suspects.includes(call) || !(TOOLS_NODE in thread.agent.nodes),
      );
      const leavesOpen = closed.length < state.openCalls.length;
      await closeCalls(thread, withResults(closed), { leavesOpen });
    }
    return null;
  }
  if (messages.length > 0 || state.isDropped) {
    // a dropped answer begins again with the messages that the thread has
    return { messages };
  }
  if (held.wasInterrupted) {
    // killed between its last checkpoint and the release of its lease: nothing is missing
    return "done";
  }
  throw await nothingToContinue(options.store, held.fence.session_id);
}

function mayRepeatOf(
  { options, held, live, prepared, state }: ExchangeContext,
  calls: readonly OpenCall[],
): ReturnType<typeof mayRepeat> {
  const asking = {
    store: options.store,
    fence: held.fence,
    thread_suffix: held.session.thread_suffix,
    repeats: live.repeats ?? "never",
    default: options.defaultAnswer,
    conceal: prepared.conceal,
  };
  const known = calls.map((call) => ({ ...call, ...factsOfCall(call, options.tools) }));
  return mayRepeat(asking, { calls: known, begun: String(state.starts) });
}

/** True for a call that may have taken effect. */
function mayHaveActed(call: OpenCall, { notBegun }: ThreadState, tools: ToolSet): boolean {
  return !mayBeRepeated(call, (name) => tools.get(name).repeatable) && !notBegun.has(call.id);
}

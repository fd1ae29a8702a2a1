import { homedir } from "node:os";

import { attachments } from "./attachments.ts";
import { type AgentOfExchange, buildAgent, threadPrefix } from "./agent.ts";
import { begunBefore, keptCalls, serversOf, serverToolsOf } from "./exchange-servers.ts";
import { createAnswerProgress } from "./messages/answer-progress.ts";
import { viewOf } from "./compaction/view.ts";
import { messagesOf } from "./messages/thread-state.ts";
import { createCompaction } from "./compaction/compaction.ts";
import { delegateTool } from "./delegate.ts";
import { type Commands, createCommands } from "./commands/commands.ts";
import type { ExchangeContext } from "./exchange-context.ts";
import type { Worked } from "./driver/thread-holder.ts";
import type { ExchangeResult } from "../exchange/events.ts";
import { createPermit } from "./permit/permit.ts";
import { createPermitFiles } from "./permit/permit-files.ts";
import { createKeeper, type KeepChanges } from "../workspace/undo/keeper.ts";
import { createCommandRecorder, settleLeft } from "../workspace/undo/commands/record-command.ts";
import type { StructuredToolInterface } from "@langchain/core/tools";

import type { Servers } from "../mcp/servers.ts";
import { handInTool } from "./tools/hand-in.ts";
import { ArtifactPlace } from "../plans/artifact-file.ts";
import type { GitUser } from "../workspace/places/ask-git.ts";
import { createCallModel } from "./call-model.ts";
import { ModelLine } from "./model-line.ts";
import { listOpenQuestions } from "../store/records/questions/read.ts";
import { keepFallback } from "../store/records/exchanges/keep-fallback.ts";
import { builtInAgent } from "./built-in-agent.ts";
import { configOf, driveExchange } from "./driver/drive-exchange.ts";
import type { DrivenAgent } from "./driver/driven-agent.ts";

/**
 * The exchange between taking the lease and giving it back. No command, no server and no sub-agent of it is
 * still running afterwards.
 */
export async function runExchange(context: ExchangeContext): Promise<Worked<ExchangeResult>> {
  const { options, held, prepared, hooks } = context;
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
  const servers = await serversOf(context);
  const { heldServers } = options;
  let isWaiting = false;
  const children: Promise<unknown>[] = [];
  try {
    // servers that were held run on: this process has ended all else that the session started
    if ((held.wasInterrupted || hooks !== null) && servers?.isResumed !== true) {
      await (commands ?? hooks?.commands)?.endLeftRunning();
      await servers?.endLeftRunning();
    }
    const { store, kept } = options;
    await settleLeft({ store, kept, session_id: held.session.id }, { isHeld: true });
    await beginHooks(context);
    const worked = await runWith({ context, commands, servers, children });
    isWaiting = worked.end === "waiting";
    if (worked.end === "waiting" && hooks?.runner.has("Notification") === true) {
      await hooks.hooks.asked(await askedIn(context), context.live.signal);
    }
    return worked;
  } finally {
    await Promise.allSettled(children);
    const ended =
      isWaiting && servers?.isHolding === true
        ? heldServers.keep(held.session.id, servers)
        : servers?.end();
    await Promise.all([commands?.end(), hooks?.commands.end(), ended]);
  }
}

/** Runs the hooks of a new message, which may deny it: nothing is stored yet. Error codes: `hook_denied`. */
async function beginHooks({
  hooks,
  taken,
  options,
  request,
  held,
  tuple,
  live,
}: ExchangeContext): Promise<void> {
  if (hooks !== null && options.within === undefined && request.text !== null) {
    const { source, keep } = taken.source(held.session, {
      hasBegun: tuple !== undefined,
      summary: viewOf(messagesOf(tuple)).summary?.id ?? null,
    });
    await hooks.hooks.begin({ source, prompt: request.text }, live.signal);
    keep();
  }
}

/** The questions of the session itself: those of a sub-agent are of its exchange. */
async function askedIn({ options, held }: ExchangeContext) {
  const { id } = held.session;
  const open = await options.store.read(listOpenQuestions, { reference: id });
  return open
    .filter(({ session_id }) => session_id === id)
    .map(({ text, permission }) => ({ text, isPermission: permission !== null }));
}

/** Work that runs beside an exchange. */
interface Running {
  readonly context: ExchangeContext;
  readonly commands: Commands | null;
  readonly servers: Servers | null;
  readonly children: Promise<unknown>[];
}

function runWith(running: Running): Promise<Worked<ExchangeResult>> {
  const { context } = running;
  const { options, request, held, prepared, state } = context;
  const { modelName: model, persona } = prepared;
  const isNew = request.text !== null;
  const models = modelsOf(context);
  return driveExchange({
    store: options.store,
    thread: context,
    live: context.live,
    report: context.report,
    isNew,
    closesFirst: isNew && held.begun === null && state.openCalls.length > 0,
    names: { model, persona_name: persona.name },
    answeredBy: () => models.current.modelName,
    openAgent: () => openAgent({ ...running, models }),
  });
}

/** The models of an exchange. Another one that takes over is stored with the exchange, and reported. */
function modelsOf({ options, held, prepared, report }: ExchangeContext): ModelLine {
  return new ModelLine({
    first: prepared,
    fallback: prepared.fallback,
    open: prepared.openFallback,
    onFallback: async (model, sentence) => {
      const { modelName } = model;
      await options.store.write(keepFallback, { fence: held.fence, model: modelName });
      report({ type: "notice", sentence, about: "fallback", model: modelName });
      options.noticeModel(held.session, model, report);
    },
  });
}

const DROPPED_REASONING =
  "The provider no longer accepts the model's earlier reasoning in this session, so it is left out from now on. Answers may be less good for a while.";

interface Opening extends Running {
  readonly models: ModelLine;
}

function openAgent({ context, models, commands, servers, children }: Opening): DrivenAgent {
  const { options, held, prepared, report } = context;
  const { session } = held;
  const { state, request } = context;
  const continues = state.isUnfinished && request.text === null;
  const progress = createAnswerProgress(report, continues ? state.answer : "");
  const signal = AbortSignal.any([context.live.signal, held.lost]);
  const callModel = createCallModel({
    models: options.models,
    prepared,
    pauses: options.pauses,
    mayCall: context.mayCall,
    calls: context.calls,
    onAnswer: () => {
      const unpriced = context.unpriced();
      if (unpriced !== null) {
        // sub-agents ask no model either
        context.tree.end(unpriced);
      }
    },
    hasText: (id) => progress.arriving.has(id),
    textIsFinal: context.live.textIsFinal === true,
    report,
  });
  const compaction = createCompaction({
    models,
    signal,
    callModel,
    report,
  });
  const { asks = true, onDenied } = options.permission ?? {};
  const permitting = {
    store: options.store,
    session,
    n: () => context.record()?.n ?? null,
    judge: prepared.judge,
    onDenied,
  };
  const n = () => context.record()?.n ?? 0;
  const keep = createKeeper({ store: options.store, fence: held.fence, n, kept: options.kept });
  const recording = { store: options.store, session_id: session.id, n, kept: options.kept };
  const building: AgentOfExchange = {
    ...prepared,
    models,
    restricting: prepared.judge.restricting,
    configured: prepared.judge.protected,
    asks,
    permit: createPermit(permitting),
    permitFiles: createPermitFiles(permitting),
    keep,
    session,
    known: context.known,
    saver: context.saver,
    delegate: delegateTool(context, children),
    commands:
      commands === null
        ? options.commands && null
        : {
            commands,
            record: createCommandRecorder(recording),
            onOutput: (call_id, text) =>
              context.live.onOutput?.({
                session_id: session.id,
                call_id,
                text: prepared.conceal(text),
              }),
          },
    asking: {
      store: options.store,
      hasAsked: request.text === null && state.openCalls.length > 0,
      default: options.defaultAnswer,
    },
    protectedPaths: options.protectedPaths,
    onDenied,
    gitUser: gitUserOf(context),
    tools: options.tools,
    programTools: options.programTools,
    checkPlan: options.checkPlan,
    handIn: handInOf(context, keep),
    onPlan: options.onPlan,
    callModel,
    askAtLimit: context.askAtLimit,
    compaction,
    sent: options.sent,
    onMessage: progress.onMessage,
    hooks: context.hooks?.hooks,
    begunBefore: () => begunBefore(context),
    isShown: (id) => progress.arriving.isShown(id),
    onDropped: () =>
      report({ type: "notice", sentence: DROPPED_REASONING, about: "reasoning_dropped" }),
  };
  const prefix = threadPrefix(building, context.prefixMark);
  const serverTools = serverToolsOf(context, servers, building);
  const agent = buildAgent({ ...building, prefix, serverTools });
  return builtInAgent({
    context,
    thread: { agent, config: configOf(session) },
    prefix,
    compaction,
    progress,
    kept: () => keptCalls(context),
    attach: async (text) =>
      // what a model writes to a sub-agent reads nothing
      options.within === undefined
        ? attachments(text, {
            servers,
            signal,
            onNotice: (sentence) =>
              report({ type: "notice", sentence: prepared.conceal(sentence) }),
          }).then((found) => (found === null ? null : prepared.conceal(found)))
        : null,
  });
}

function gitUserOf({ options }: ExchangeContext): GitUser {
  return { home: homedir(), env: options.commands?.env ?? {} };
}

/** The tool that takes the artifact of a phase; null for a session that has to hand in none. */
function handInOf(context: ExchangeContext, keep: KeepChanges): StructuredToolInterface | null {
  const { options, held, prepared } = context;
  const { artifact, folder, root, judge } = prepared;
  if (artifact === null || folder === null) {
    return null;
  }
  const place = new ArtifactPlace({
    repoPath: folder,
    root,
    protectedPaths: options.protectedPaths,
    judge,
    gitUser: gitUserOf(context),
  });
  return handInTool({ artifact, place, keep, store: options.store, fence: held.fence });
}

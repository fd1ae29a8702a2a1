import { isRepriseError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { LEASE_MS } from "../core/limits.ts";
import type { ExchangeFailure } from "../core/sessions.ts";
import { refuseEnded } from "../store/sessions/change.ts";
import { readSession } from "../store/sessions/read.ts";
import { threadId } from "../core/threads.ts";
import { buildAgent } from "./agent.ts";
import { runExchange } from "./run-exchange.ts";
import { createCheckpointSaver, type OnStored, type SessionSaver } from "../langgraph/saver.ts";
import { compactThread } from "./compaction/compact-thread.ts";
import { delegateTool } from "./delegate.ts";
import type {
  Compacted,
  CompactRequest,
  Exchanger,
  ExchangeRequest,
  Live,
} from "../exchange/exchanger.ts";
import type { ExchangeResult } from "../exchange/events.ts";
import { createReport, type Report, reportEnd, reportStored } from "../exchange/report-events.ts";
import type { AgentOptions, Prepared } from "./exchange-context.ts";
import { exchangeFailure } from "../exchange/exchange-failure.ts";
import { createExchangeTree } from "../exchange/exchange-tree.ts";
import { type HeldSession, holdLease } from "../exchange/lease-holder.ts";
import { chosenModel } from "../exchange/models/choose.ts";
import { modelSettings } from "../exchange/models/settings.ts";
import { createCallModel } from "./models/call-model.ts";
import { openModel } from "./models/open.ts";
import { loadPersona } from "../exchange/personas/load.ts";
import { DEFAULT_PERSONA } from "../exchange/personas/persona.ts";
import { repoInstructions } from "../exchange/personas/repo-instructions.ts";
import { workFolder } from "../exchange/trust/wide-folder.ts";
import { isGone } from "../store/leases/this-process.ts";

/** Carries out exchanges, one at a time; the checkpoint store stays open between them. */
export function createExchanger(parts: AgentOptions): Exchanger {
  const known = createCheckpointSaver({ store: parts.store });
  const { unreturned = new Set<string>() } = parts;

  /** Works in a session under its lease; the thread that a work has finished is folded. */
  const hold = async <Result>(
    request: CompactRequest,
    signal: AbortSignal,
    work: (held: HeldSession, saver: SessionSaver, begun: () => void) => Promise<Worked<Result>>,
    onStored?: OnStored,
  ): Promise<Result> => {
    const held = await holdLease({
      store: parts.store,
      session_id: request.session_id,
      owner: { ...parts.owner, since: new Date().toISOString() },
      life_ms: parts.leaseMs ?? LEASE_MS,
      when_busy: request.when_busy ?? "refuse",
      signal,
      isGone,
      unreturned,
    });
    const saver = known.holding(held.fence, onStored);
    let finished = false;
    let finishedThread: string | null = null;
    let isBegun = false;
    let failure: ExchangeFailure | null = null;
    try {
      const worked = await work(held, saver, () => (isBegun = true));
      finishedThread = worked.finishedThread;
      return worked.result;
    } catch (error) {
      finished = isRepriseError(error, "nothing_to_continue");
      failure = isBegun ? exchangeFailure(error) : null;
      throw error;
    } finally {
      if (finishedThread === null) {
        await held.release(finished, failure);
      } else {
        saver.forgetFolded(finishedThread, await held.finish(finishedThread));
      }
    }
  };

  const exchange = async (
    request: ExchangeRequest,
    live: Live,
    report: Report,
  ): Promise<ExchangeResult> => {
    const prepared = await prepare(parts, request);
    return hold(
      request,
      live.signal,
      async (held, saver, begun) => {
        const tree = parts.within?.tree ?? createExchangeTree(parts.limits);
        const subAgents = delegateTool({
          parts,
          tree,
          fence: held.fence,
          prepared,
          live,
          report,
          openExchanger: (place) => createExchanger({ ...parts, within: { tree, place } }),
        });
        const { result, finished } = await runExchange({
          parts,
          request,
          live,
          held,
          saver,
          prepared,
          subAgents,
          countModelCall: () => tree.countModelCall(),
          begun,
          report,
        });
        return { result, finishedThread: finished ? result.thread_id : null };
      },
      (messages) => reportStored(report, messages),
    );
  };

  return {
    exchange: async (request, live) => {
      const { session_id } = request;
      const report = createReport(live.listener, { exchange_id: newId(), session_id });
      return reportEnd(report, () => exchange(request, live, report));
    },
    compact: async (request, { signal }) => {
      const prepared = await prepare(parts, request);
      const outcome = await hold(request, signal, async (held, saver) => {
        const { outcome, thread_id } = await compactSession({
          parts,
          prepared,
          saver,
          held,
          signal,
        });
        const stays = held.wasInterrupted || outcome !== "compacted";
        return { result: outcome, finishedThread: stays ? null : thread_id };
      });
      return { outcome, session: await parts.store.read(readSession, { id: request.session_id }) };
    },
  };
}

interface Worked<Result> {
  readonly result: Result;
  /** Null where something is left to do in the thread, or nothing was done. */
  readonly finishedThread: string | null;
}

async function compactSession(input: {
  parts: AgentOptions;
  prepared: Prepared;
  saver: SessionSaver;
  held: HeldSession;
  signal: AbortSignal;
}): Promise<{ outcome: Compacted["outcome"]; thread_id: string }> {
  const { parts, prepared, saver, held } = input;
  const session = await parts.store.read(readSession, { id: held.fence.session_id });
  const { protectedPaths } = parts;
  const agent = buildAgent({ ...prepared, session, saver, delegate: null, protectedPaths });
  const thread = { agent, id: threadId(session.id, session.thread_suffix) };
  const signal = AbortSignal.any([input.signal, held.lost]);
  const tree = createExchangeTree(parts.limits);
  const callModel = createCallModel({
    models: parts.models,
    prepared,
    count: () => tree.countModelCall(),
  });
  const outcome = await compactThread({ thread, saver, prepared, signal, callModel });
  held.lost.throwIfAborted();
  return { outcome, thread_id: thread.id };
}

/** All that can be refused before anything is stored: so a message is not stored twice. */
async function prepare(parts: AgentOptions, request: CompactRequest): Promise<Prepared> {
  const session = await parts.store.read(readSession, { id: request.session_id });
  refuseEnded(session);
  const persona = await loadPersona({
    name: session.persona_name ?? DEFAULT_PERSONA,
    repoPath: session.repo_path,
    ...parts.personas,
  });
  const modelName = chosenModel({ session: session.model, persona, config: parts.models });
  const settings = modelSettings({ name: modelName, config: parts.models });
  const open = parts.openModel ?? openModel;
  const folder = await workFolder(session.repo_path, parts.personas.trust);
  return {
    persona,
    modelName,
    model: await open({ name: modelName, config: parts.models }),
    keyless: settings.keyless,
    window: settings.window,
    folder: folder.path,
    readOnly: folder.readOnly,
    instructions:
      session.repo_path === null
        ? null
        : await repoInstructions(session.repo_path, parts.personas.trust),
  };
}

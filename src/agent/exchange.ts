import { isRepriseError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { LEASE_MS } from "../core/limits.ts";
import type { Session } from "../core/sessions.ts";
import { refuseEnded } from "../store/sessions/change.ts";
import { readExchangeRows } from "../store/leases/finish.ts";
import { readLeaseState, type LeaseState } from "../store/leases/lease.ts";
import { beginExchange } from "../store/messages/begin-exchange.ts";
import { threadId } from "../core/threads.ts";
import { runExchange } from "./run-exchange.ts";
import { createCheckpointSaver } from "../langgraph/saver.ts";
import type { OnStored } from "../langgraph/session-saver.ts";
import { compactThread } from "./compaction/compact-thread.ts";
import { threadStateOf } from "./thread-state.ts";
import type { CompactRequest, Exchanger, ExchangeRequest, Live } from "../exchange/exchanger.ts";
import type { ExchangeResult } from "../exchange/events.ts";
import { createReport, type Report, reportEnd, reportStored } from "../exchange/report-events.ts";
import type { AgentOptions, Prepared, Worked } from "./exchange-context.ts";
import { exchangeFailure } from "../exchange/exchange-failure.ts";
import { createExchangeTree } from "../exchange/exchange-tree.ts";
import { type HeldSession, type HoldInput, holdLease } from "../exchange/lease-holder.ts";
import { chosenModel } from "../exchange/models/choose.ts";
import { modelSettings } from "../exchange/models/settings.ts";
import { openModel } from "./models/open.ts";
import { createPersonaCache } from "../exchange/personas/persona-cache.ts";
import { loadPersona } from "../exchange/personas/load.ts";
import { DEFAULT_PERSONA } from "../exchange/personas/persona.ts";
import { repoInstructions } from "../exchange/personas/repo-instructions.ts";
import { workFolder } from "../exchange/trust/wide-folder.ts";

/** Runs exchanges, one at a time; the checkpoint store stays open between them. */
export function createExchanger(given: AgentOptions): Exchanger {
  const options = { ...given, personas: { cache: createPersonaCache(), ...given.personas } };
  const known = createCheckpointSaver({ store: options.store });
  const { unreleased = new Set<string>() } = options;

  /** Works in a session under its lease; the checkpoints of a finished exchange are pruned. */
  const hold = async <Result>(
    request: CompactRequest,
    signal: AbortSignal,
    work: (held: HeldSession, begun: () => void) => Promise<Worked<Result>>,
    begin: HoldInput["begin"] = null,
  ): Promise<Result> => {
    const held = await holdLease({
      store: options.store,
      session_id: request.session_id,
      owner: { ...options.owner, since: new Date().toISOString() },
      life_ms: options.leaseMs ?? LEASE_MS,
      when_busy: request.when_busy ?? "refuse",
      signal,
      unreleased,
      begin,
    });
    let isBegun = held.begun !== null;
    let worked: Worked<Result>;
    try {
      worked = await work(held, () => (isBegun = true));
    } catch (error) {
      const finished = isRepriseError(error, "nothing_to_continue");
      await held.release(finished, isBegun ? exchangeFailure(error) : null);
      throw error;
    }
    const { thread_id, finished, after_seq } = worked;
    if (!finished) {
      await held.release(false);
      return worked.result(
        await options.store.read(readExchangeRows, { ...held.fence, after_seq }),
      );
    }
    const rows = await held.finish({ thread_id, after_seq });
    known.forgetPruned(thread_id, rows.pruned);
    return worked.result(rows);
  };

  const exchange = async (
    request: ExchangeRequest,
    live: Live,
    report: Report,
  ): Promise<ExchangeResult> => {
    const leaseState = await options.store.read(readLeaseState, request);
    const prepared = await prepare(options, leaseState.session);
    const begin = {
      leaseState,
      content: request.text,
      model: prepared.modelName,
      persona_name: prepared.persona.name,
      caller: request.caller,
    };
    const early = isFree(leaseState) ? await known.readLatest(threadOf(leaseState.session)) : null;
    // calls that were left open get their results before the new message
    const mayBegin =
      early !== null &&
      (request.text === null || threadStateOf(await early.tuple()).openCalls.length === 0);
    return hold(
      request,
      live.signal,
      async (held, begun) => {
        const latest =
          held.begun === null || early === null
            ? await known.readLatest(threadOf(held.session))
            : early;
        const onStored: OnStored = (messages) => reportStored(report, messages);
        const tree = options.within?.tree ?? createExchangeTree(options.limits);
        return runExchange({
          options,
          request,
          live,
          held,
          state: threadStateOf(await latest.tuple()),
          saver: known.holding(held.fence, { onStored, latest }),
          prepared,
          tree,
          begin: async () => {
            const { fence } = held;
            const stored = await options.store.write(beginExchange, { ...begin, fence });
            begun();
            return stored;
          },
          openExchanger: (reservation) =>
            createExchanger({ ...options, within: { tree, reservation } }),
          report,
        });
      },
      mayBegin ? begin : null,
    );
  };

  return {
    exchange: async (request, live) => {
      const { session_id } = request;
      const report = createReport(live.listener, { exchange_id: newId(), session_id });
      return reportEnd(report, () => exchange(request, live, report));
    },
    compact: async (request, { signal }) => {
      const { session } = await options.store.read(readLeaseState, request);
      const prepared = await prepare(options, session);
      return hold(request, signal, async (held) => {
        const saver = known.holding(held.fence);
        return compactThread({ options, prepared, saver, held, signal });
      });
    },
  };
}

/** True if the session could begin an exchange when it was read; another process may be first. */
function isFree({ session, free_epoch }: LeaseState): boolean {
  return session.activity === "idle" && free_epoch !== null;
}

function threadOf({ id, thread_suffix }: Session): string {
  return threadId(id, thread_suffix);
}

/** All that can be refused before anything is stored: so a message is not stored twice. */
async function prepare(options: AgentOptions, session: Session): Promise<Prepared> {
  refuseEnded(session);
  const persona = await loadPersona({
    name: session.persona_name ?? DEFAULT_PERSONA,
    repoPath: session.repo_path,
    ...options.personas,
  });
  const modelName = chosenModel({ session: session.model, persona, config: options.models });
  const settings = modelSettings({ name: modelName, config: options.models });
  const open = options.openModel ?? openModel;
  const folder = await workFolder(session.repo_path, options.personas.trust);
  return {
    persona,
    modelName,
    model: await open({ name: modelName, config: options.models }),
    keyless: settings.keyless,
    window: settings.window,
    folder: folder.path,
    readOnly: folder.readOnly,
    instructions:
      session.repo_path === null
        ? null
        : await repoInstructions(session.repo_path, options.personas.trust),
  };
}

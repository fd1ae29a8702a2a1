import { homedir } from "node:os";

import { refuseEnded } from "../../store/records/sessions/change.ts";
import { EXCHANGE_LIMITS } from "../../core/exchange-limits.ts";
import { PLAN_AGENT } from "../../core/plan-runs.ts";
import type { ExchangeResult } from "../../exchange/events.ts";
import {
  type Exchanger,
  type ExchangeRequest,
  isFromTerminal,
  type Live,
} from "../../exchange/exchanger.ts";
import { type Report, reportStored } from "../../exchange/report-events.ts";
import { ArtifactPlace } from "../../plans/artifact-file.ts";
import { planOf } from "../../plans/plan-of-run.ts";
import { untrustedChecks } from "../../plans/untrusted-checks.ts";
import {
  lowered,
  loweredSandbox,
  repositoryConfig,
  type RepositoryConfig,
} from "../../rules/config/repository.ts";
import { Judge } from "../../rules/permissions/judge.ts";
import { loadPersona } from "../../rules/personas/load.ts";
import { DEFAULT_PERSONA, type Persona } from "../../rules/personas/persona.ts";
import { workFolder, type WorkFolder } from "../../rules/trust/wide-folder.ts";
import { BUILT_IN_TOOLS } from "../../rules/tools/built-in.ts";
import { type LeaseState, readLeaseState } from "../../store/records/leases/lease.ts";
import { readRunOf, type StoredRun } from "../../store/records/plans/read-runs.ts";
import { runTakesNoMessage } from "../../store/records/plans/takes-no-message.ts";
import { refuseMissingFolder } from "../../workspace/files/is-folder.ts";
import { sessionFolder } from "../../workspace/files/session-folder.ts";
import { keptBytesIn } from "../../workspace/undo/kept-bytes.ts";
import { driveExchange } from "../driver/drive-exchange.ts";
import { createExchangeDriver, type Hold } from "../driver/exchange-driver.ts";
import { createExchanger } from "../exchange.ts";
import type { AgentOptions } from "../exchange-context.ts";
import { createModelNotices } from "../model-notices.ts";
import { createProviderPauses } from "../models/provider-pause.ts";
import { mayRunCommands } from "../../rules/trust/command-folder.ts";
import { secretsOfModels } from "../../rules/models/secrets-of-models.ts";
import type { FolderSettings } from "../../rules/config/settings.ts";
import { createConceal } from "../../core/secrets.ts";
import { RepriseError } from "../../core/errors.ts";
import { RunChecks } from "./run-checks.ts";
import { planAgent } from "./plan-agent.ts";
import { PlanWorker } from "./plan-worker.ts";

/** Runs exchanges of conversations, and those of plans that are run: the agent of the session decides. */
export function createRunExchanger(given: AgentOptions): Exchanger {
  const options = {
    ...given,
    pauses: given.pauses ?? createProviderPauses(),
    noticeModel: given.noticeModel ?? createModelNotices(),
    kept: given.kept ?? keptBytesIn(given.undoFolder),
  };
  const { store } = options;
  const conversations = createExchanger(options);
  const driver = createExchangeDriver({ ...options, isShownOnly: true });
  const runOf = (request: ExchangeRequest, state: LeaseState, live: Live) =>
    driver.run(request, live, (report, hold) =>
      exchangeOfRun(options, { request, state, report, hold }),
    );
  return {
    ...conversations,
    exchange: async (request, live) => {
      // what cannot be read is reported by who runs the exchange
      const state =
        request.lease_state ?? (await store.read(readLeaseState, request).catch(() => null));
      return state?.session.agent === PLAN_AGENT
        ? runOf(request, state, live)
        : conversations.exchange(
            state === null ? request : { ...request, lease_state: state },
            live,
          );
    },
  };
}

interface Beginning {
  readonly request: ExchangeRequest;
  readonly state: LeaseState;
  readonly report: Report;
  readonly hold: Hold;
}

/** Error codes: `run_takes_no_message`, `run_missing`, `folder_missing`, and as `Exchanger.exchange`. */
async function exchangeOfRun(
  options: AgentOptions,
  { request, state, report, hold }: Beginning,
): Promise<ExchangeResult> {
  const { session } = state;
  refuseEnded(session);
  if (request.text !== null) {
    throw runTakesNoMessage();
  }
  const { store, limits: _own, ...shared } = options;
  const run = await store.read(readRunOf, { session_id: session.id });
  if (run.exchange?.state === "done") {
    throw new RepriseError(
      "nothing_to_continue",
      "Every phase of this run is done. `reprise plan report` shows them, and `reprise plan run --again` runs the plan once more.",
    );
  }
  const plan = planOf(run);
  if (session.repo_path !== null) {
    await refuseMissingFolder(session.repo_path, "continue the run with `reprise plan resume`");
  }
  const root = await sessionFolder(session);
  const configured = await options.settings?.at(root);
  const repository = await repositoryConfig(root, options.personas.trust);
  const limits = lowered(
    configured?.limits ?? options.limits ?? EXCHANGE_LIMITS,
    repository.limits,
  );
  const folder = await workFolder(root, options.personas.trust);
  const judge = await Judge.open(
    options,
    { session, repo_path: root, mode: null },
    { persona: await defaultPersona(options), folder, configured, repository },
  );
  const place = new ArtifactPlace({
    repoPath: session.repo_path ?? "",
    root,
    protectedPaths: options.protectedPaths,
    judge,
    gitUser: { home: homedir(), env: options.commands?.env ?? {} },
  });
  const checks = await checksOf(options, { run, place, folder, configured, repository });
  const isUnattended = request.claim !== undefined;
  return hold({
    leaseState: state,
    begin: { content: null, model: session.model, persona_name: null, agent: PLAN_AGENT },
    isOfService: isUnattended,
    isAttended: isFromTerminal(request),
    mayBegin: () => true,
    onStored: (messages) => reportStored(report, messages),
    work: async (thread, live) => {
      const worker = new PlanWorker({
        store,
        personas: options.personas,
        tools: options.tools ?? BUILT_IN_TOOLS,
        run,
        plan,
        place,
        checks,
        thread,
        live,
        report,
        fallback: session.fallback ?? configured?.fallback ?? [],
        limits,
        openExchanger: (place) =>
          createExchanger({ ...shared, store, within: { ...place, isUnattended } }),
      });
      try {
        return await driveExchange({
          store,
          thread,
          live,
          report,
          isNew: false,
          closesFirst: false,
          names: { model: session.model, persona_name: null, agent: PLAN_AGENT },
          openAgent: () => planAgent({ worker, thread, report }),
        });
      } finally {
        await worker.end();
      }
    },
  });
}

/** The persona of a run's session, which restricts nothing. */
function defaultPersona({ personas }: AgentOptions): Promise<Persona> {
  return loadPersona({ ...personas, name: DEFAULT_PERSONA, repoPath: null });
}

interface CheckedPlace {
  readonly run: StoredRun;
  readonly place: ArtifactPlace;
  readonly folder: WorkFolder;
  readonly configured: FolderSettings | undefined;
  readonly repository: RepositoryConfig;
}

/** Makes what runs the checks of a run; null without checks. Error codes: `not_confirmed`, `folder_not_trusted`, `sandbox_missing`. */
async function checksOf(
  options: AgentOptions,
  { run, place, folder, configured, repository }: CheckedPlace,
): Promise<RunChecks | null> {
  const { checks } = run;
  if (checks === null) {
    return null;
  }
  if (run.checks_accepted !== 1) {
    throw new RepriseError(
      "not_confirmed",
      "This run came from another database, with checks that nobody has accepted here. Continue it with `reprise plan resume` in a terminal, which shows them.",
    );
  }
  const { trust } = options.personas;
  const { commands, models, secrets, store, kept } = options;
  const hidden = [...secretsOfModels(configured?.models ?? models), ...((await secrets?.()) ?? [])];
  if (!(await mayRunCommands(folder, trust))) {
    throw untrustedChecks();
  }
  const running = new RunChecks({
    store,
    kept: kept ?? null,
    place,
    checks,
    conceal: createConceal(hidden),
    commands:
      commands === undefined
        ? undefined
        : {
            ...commands,
            environment: configured?.environment ?? [],
            visible: configured?.visible ?? [],
            limits: loweredSandbox(configured?.sandbox ?? {}, repository.sandbox),
          },
  });
  await running.requireSandbox();
  return running;
}

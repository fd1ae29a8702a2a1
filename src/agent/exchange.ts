import type { BaseMessage } from "@langchain/core/messages";

import { RepriseError } from "../core/errors.ts";
import { isDelegated } from "../core/session-tree.ts";
import { ToolSet } from "../core/tools.ts";
import { refuseEnded } from "../store/records/sessions/change.ts";
import { type LeaseState, readLeaseState } from "../store/records/leases/lease.ts";
import { continueParents } from "../store/records/questions/continue.ts";
import { createModelNotices } from "./model-notices.ts";
import { runExchange } from "./run-exchange.ts";
import { compactThread } from "./compact-thread.ts";
import { contextUse } from "./context-use.ts";
import { KnownFiles } from "./known-files.ts";
import { threadStateOf } from "./messages/thread-state.ts";
import { type Exchanger, type ExchangeRequest, isFromTerminal } from "../exchange/exchanger.ts";
import type { ExchangeResult } from "../exchange/events.ts";
import { sessionFolder } from "../workspace/files/session-folder.ts";
import { refuseMissingFolder } from "../workspace/files/is-folder.ts";
import { type Report, reportStored } from "../exchange/report-events.ts";
import { askAtLimit } from "./permit/ask-at-limit.ts";
import { refuseBeyondLimits, unpricedAnswer } from "./refuse-beyond-limits.ts";
import type { AgentOptions, OpenedOptions, Prepared } from "./exchange-context.ts";
import { hearsMessages, hooksIn, openHooksOf } from "./session-hooks.ts";
import { TakenSessions } from "./taken-sessions.ts";
import { createExchangeTree } from "../exchange/exchange-tree.ts";
import { EXCHANGE_LIMITS } from "../core/exchange-limits.ts";
import {
  type ConfiguredServers,
  configuredServers,
  serversFor,
} from "../mcp/configured-servers.ts";
import { HeldServers } from "../mcp/held-servers.ts";
import type { FolderSettings } from "../rules/config/settings.ts";
import { serversHere } from "../rules/servers/servers-here.ts";
import { lowered, loweredSandbox, repositoryConfig } from "../rules/config/repository.ts";
import { mayRunCommands } from "../rules/trust/command-folder.ts";
import { checkPrice } from "../rules/models/check-model.ts";
import { checkEffort, chosenSettings } from "../rules/models/effort.ts";
import { chosenModel } from "../rules/models/choose.ts";
import { secretsOfModels } from "../rules/models/secrets-of-models.ts";
import { modelSettings } from "../rules/models/settings.ts";
import { openAnswering } from "./answering-model.ts";
import { openModel } from "./models/open.ts";
import { createProviderPauses } from "./models/provider-pause.ts";
import { createPersonaCache } from "../rules/personas/persona-cache.ts";
import { loadPersona } from "../rules/personas/load.ts";
import { DEFAULT_PERSONA, type Persona } from "../rules/personas/persona.ts";
import { Judge } from "../rules/permissions/judge.ts";
import { BUILT_IN_TOOLS, HAND_IN } from "../rules/tools/built-in.ts";
import { createScrub } from "../core/text/scrub.ts";
import { createConceal, type Secret } from "../core/secrets.ts";
import type { Skill } from "../rules/skills/skill.ts";
import { surveySkills } from "../rules/skills/survey.ts";
import { repoInstructions } from "../rules/personas/repo-instructions.ts";
import { workFolder } from "../rules/trust/wide-folder.ts";
import { refuseOtherAgent } from "../exchange/other-agent.ts";
import { keptBytesIn } from "../workspace/undo/kept-bytes.ts";
import { phaseOf, planOf } from "../plans/plan-of-run.ts";
import { readOwnPhase } from "../store/records/plans/attempt.ts";
import { createExchangeDriver, type Hold } from "./driver/exchange-driver.ts";

/** Runs exchanges, one at a time; the checkpoint store stays open between them. */
export function createExchanger(given: AgentOptions): Exchanger {
  const tools = everyTool(given);
  const options = {
    ...given,
    pauses: given.pauses ?? createProviderPauses(),
    noticeModel: given.noticeModel ?? createModelNotices(),
    kept: given.kept ?? keptBytesIn(given.undoFolder),
    heldServers: given.heldServers ?? new HeldServers(),
    tools,
    personas: { cache: createPersonaCache(), ...given.personas, tools: listedTools(tools) },
    sent: new WeakMap<BaseMessage, object>(),
  };
  const { limits: _own, ...shared } = options;
  const driver = createExchangeDriver({ ...options, isShownOnly: true });
  const taken = new TakenSessions();

  const exchange = async (
    request: ExchangeRequest,
    report: Report,
    hold: Hold,
  ): Promise<ExchangeResult> => {
    const leaseState = request.lease_state ?? (await options.store.read(readLeaseState, request));
    const isAttended = options.within === undefined && isFromTerminal(request);
    const isUnattended = request.claim !== undefined || options.within?.isUnattended === true;
    const prepared = await prepare(options, leaseState, isUnattended);
    const result = await hold({
      leaseState,
      begin: {
        content: request.text,
        model: prepared.modelName,
        persona_name: prepared.persona.name,
        parent_n: request.parent_n ?? null,
      },
      isOfService: isUnattended,
      isAttended,
      waitsForLimits: prepared.waitsForLimits && request.claim !== undefined,
      // calls that were left open get their results before the new message, and hooks may deny it
      mayBegin: (tuple) =>
        request.text === null ||
        (threadStateOf(tuple).openCalls.length === 0 && !hearsMessages(prepared)),
      onStored: (messages) => reportStored(report, messages),
      work: async (thread, live) => {
        const { held, tuple } = thread;
        options.noticeModel(leaseState.session, prepared, report);
        const known = new KnownFiles(tuple);
        const n = () => thread.record()?.n ?? 0;
        const { session } = held;
        const hooks = await openHooksOf(options, {
          prepared,
          known,
          onNotice: (sentence) => report({ type: "notice", sentence, about: "hook" }),
          mark: leaseState.prefix_mark,
          session,
          n,
        });
        const tree = options.within?.tree ?? createExchangeTree(prepared.limits);
        return runExchange({
          ...thread,
          options,
          request,
          live,
          state: threadStateOf(tuple),
          known,
          prepared,
          hooks,
          taken,
          prefixMark: leaseState.prefix_mark,
          tree,
          mayCall: refuseBeyondLimits({
            store: options.store,
            tree,
            calls: thread.calls,
            state: leaseState,
          }),
          unpriced: () => unpricedAnswer(leaseState, thread.calls),
          askAtLimit:
            leaseState.is_limited && isAttended
              ? askAtLimit({
                  store: options.store,
                  session: held.session,
                  n: () => thread.record()?.n ?? 0,
                  default: options.defaultAnswer,
                })
              : null,
          openExchanger: (place) =>
            createExchanger({ ...shared, within: { ...place, isUnattended } }),
          report,
        });
      },
    });
    if (options.within === undefined && isDelegated(leaseState.session)) {
      // a person has done the sub-agent's work
      await options.store.write(continueParents, { id: request.session_id });
    }
    return result;
  };

  return {
    exchange: (request, live) =>
      driver.run(request, live, (report, hold) => exchange(request, report, hold)),
    compact: async (request, { signal }) => {
      const leaseState = await options.store.read(readLeaseState, request);
      const { session } = leaseState;
      refuseOtherAgent(session, { agent: null, hasBegun: true });
      const prepared = await prepare(options, leaseState, false);
      return driver.work(request, signal, (held, thread) =>
        compactThread({ ...thread, options, prepared, held, signal, leaseState }),
      );
    },
    contextUse: (session, window) => contextUse(options.store, session, window),
    leave: async ({ session_id, reason, onNotice }, { signal }) => {
      if (taken.leave(session_id)) {
        const leaseState = await options.store.read(readLeaseState, { session_id });
        const prepared = await prepare(options, leaseState, false);
        const { session } = leaseState;
        const known = new KnownFiles();
        const mark = leaseState.prefix_mark;
        const given = { prepared, known, onNotice, mark, session, n: () => 0 };
        const hooks = await openHooksOf(options, given);
        try {
          await hooks?.hooks.left(reason, signal);
        } finally {
          await hooks?.commands.end();
        }
      }
    },
  };
}

/** Returns what is known of each tool. Error codes: `config_invalid` for a tool with the name of a built-in one. */
function everyTool({ tools = BUILT_IN_TOOLS, programTools = [] }: AgentOptions): ToolSet {
  const taken = programTools.find(({ name }) => BUILT_IN_TOOLS.has(name) || name === HAND_IN.name);
  if (taken !== undefined) {
    throw new RepriseError(
      "config_invalid",
      `A further tool has the name of a built-in one, ${taken.name}. Rename the tool.`,
    );
  }
  const undeclared = programTools.map(({ name }) => tools.get(name));
  return tools.with([...undeclared, HAND_IN].filter(({ name }) => !tools.has(name)));
}

/** Returns the tools that personas can list. */
function listedTools(tools: ToolSet): ToolSet {
  return new ToolSet([...tools].filter(({ isAssigned }) => isAssigned !== true));
}

/** All that can be refused before anything is stored: so a message is not stored twice. */
async function prepare(
  options: OpenedOptions,
  { session: given, is_price_limited }: LeaseState,
  isUnattended: boolean,
): Promise<Prepared> {
  refuseEnded(given);
  if (isUnattended && given.repo_path !== null) {
    await refuseMissingFolder(given.repo_path);
  }
  const root = await sessionFolder(given);
  // all that follows reads the folder that was checked
  const session = { ...given, repo_path: root };
  const persona = await loadPersona({
    name: session.persona_name ?? DEFAULT_PERSONA,
    repoPath: session.repo_path,
    ...options.personas,
  });
  const configured = await options.settings?.at(session.repo_path);
  const models = configured?.models ?? options.models;
  const modelName = chosenModel({ session: session.model, persona, config: models });
  const { facts } = modelSettings({ name: modelName, config: models });
  const chosen = chosenSettings({
    session,
    persona,
    config: {
      effort: configured?.effort ?? null,
      cache: configured?.cache ?? null,
      fallback: configured?.fallback ?? null,
    },
  });
  checkEffort(chosen.effort, modelName, facts);
  checkPrice(is_price_limited, modelName, facts);
  const { effort } = chosen;
  const open = options.openModel ?? openModel;
  const { answering, config } = await openAnswering({ name: modelName, models, effort, open });
  const folder = await workFolder(session.repo_path, options.personas.trust);
  // only a sub-agent works on a phase
  const phase = isDelegated(given) ? await options.store.read(readOwnPhase, given) : null;
  const repository = await repositoryConfig(session.repo_path, options.personas.trust);
  const others = (await options.secrets?.()) ?? [];
  const mcp = await serversOf(options, { persona, folder: folder.path, configured });
  const ofServers = mcp.servers.flatMap(({ secrets }) => secrets);
  const known = [...secretsOfModels(config), ...others, ...ofServers];
  let hiding = hidingOf(known);
  return {
    persona,
    ...answering,
    fallback: chosen.fallback,
    openFallback: async (name) => {
      const opened = await openAnswering({ name, models, effort, open });
      checkPrice(is_price_limited, name, opened.answering.facts);
      // a command may have printed its key
      known.push(...secretsOfModels(opened.config));
      hiding = hidingOf(known);
      return opened.answering;
    },
    cacheLife: chosen.cache,
    waitsForLimits: configured?.whenLimited === "wait",
    folder: folder.path === null ? null : given.repo_path,
    root,
    readOnly: folder.readOnly,
    artifact: phase === null ? null : (phaseOf(planOf(phase), phase).expected_artifact ?? null),
    mayRun: await mayRunCommands(folder, options.personas.trust),
    judge: await Judge.open(
      options,
      { session, repo_path: session.repo_path, mode: null },
      { persona, folder, configured, repository },
    ),
    mcp,
    limits: lowered(configured?.limits ?? options.limits ?? EXCHANGE_LIMITS, repository.limits),
    environment: configured?.environment ?? [],
    visible: configured?.visible ?? [],
    sandboxLimits: loweredSandbox(configured?.sandbox ?? {}, repository.sandbox),
    configuredHooks: hooksIn(options, [...(configured?.hooks ?? []), ...repository.hooks]),
    instructions:
      session.repo_path === null
        ? null
        : await repoInstructions(session.repo_path, options.personas.trust),
    skills: folder.path === null ? [] : await skillsIn(options, session.repo_path),
    learn: (secrets) => {
      known.push(...secrets);
      hiding = hidingOf(known);
    },
    conceal: (text) => hiding.conceal(text),
    scrub: (text) => hiding.scrub(text),
  };
}

/** The servers of a session. Without options of servers, nothing is read. */
async function serversOf(
  { mcp, personas }: OpenedOptions,
  given: {
    readonly persona: Persona;
    readonly folder: string | null;
    readonly configured: FolderSettings | undefined;
  },
): Promise<ConfiguredServers> {
  if (mcp === undefined) {
    return { servers: [], unusable: [], problems: [] };
  }
  const { persona, folder, configured } = given;
  const here = await serversHere({
    configured: configured?.mcp ?? {},
    persona,
    folder,
    trust: personas.trust,
  });
  return configuredServers(serversFor(persona, here), mcp.env);
}

async function skillsIn(
  { personas }: Pick<OpenedOptions, "personas">,
  repoPath: string | null,
): Promise<readonly Skill[]> {
  return (await surveySkills({ ...personas, repoPath }, ["skills"])).skills;
}

function hidingOf(secrets: readonly Secret[]): Pick<Prepared, "conceal" | "scrub"> {
  return { conceal: createConceal(secrets), scrub: createScrub(secrets) };
}

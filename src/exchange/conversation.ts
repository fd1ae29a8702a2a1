import { isRepriseError, RepriseError } from "../core/errors.ts";
import { type Confirmation, confirmed } from "./confirmation.ts";
import type {
  Compacted,
  ContextUse,
  Exchanger,
  ExchangerConfig,
  LeaveReason,
  Live,
  OpenExchanger,
} from "./exchanger.ts";
import type { Hook } from "../rules/hooks/hook.ts";
import { DEFAULT_PERSONA, type Persona } from "../rules/personas/persona.ts";
import type { WhenBusy } from "./lease-holder.ts";
import type { ExchangeResult } from "./events.ts";
import type { ModelChoice } from "../core/model-settings.ts";
import type { Principal } from "../core/principal.ts";
import type { PermissionMode } from "../core/permissions.ts";
import type { GivenReply } from "../core/questions.ts";
import type { ExchangeRecord, Session } from "../core/sessions.ts";
import { listOpenQuestions, type OpenQuestion } from "../store/records/questions/read.ts";
import type { TreeUsage } from "../store/records/model-calls/read-usage.ts";
import { endSession, setPlanMode } from "../store/records/sessions/change.ts";
import { createSession, type NewSession } from "../store/records/sessions/create.ts";
import { readLeaseState } from "../store/records/leases/lease.ts";
import { readFailures } from "../store/records/sessions/failures.ts";
import { setModelSettings } from "../store/records/sessions/model-settings.ts";
import {
  readPermissions,
  removeRule,
  setPermissionMode,
} from "../store/records/sessions/permissions.ts";
import { readSession } from "../store/records/sessions/read.ts";
import type { Store } from "../store/store.ts";
import type { FolderSettings } from "../rules/config/settings.ts";
import { type ModelConfig, modelConfig } from "../rules/models/config.ts";
import { chosenModel } from "../rules/models/choose.ts";
import { checkEffort } from "../rules/models/effort.ts";
import { modelFacts } from "../rules/models/facts.ts";
import { requireModel } from "../rules/models/check-model.ts";
import { modelSettings } from "../rules/models/settings.ts";
import type { ForkedConversation } from "./fork-conversation.ts";
import { hasNotBegun } from "./nothing-to-continue.ts";
import { answeringIn, checkNewSession, checkPersona } from "../rules/personas/preflight.ts";
import { changesOfConversation, type ConversationChanges } from "./undo/conversation-changes.ts";
import type { Decision } from "../rules/permissions/decide.ts";
import type { CallPlace } from "../rules/permissions/explain.ts";
import type { Judgement } from "../rules/permissions/judge.ts";
import { beginThread, continueWith } from "./start-thread.ts";
import { refuseUnstorable } from "./storable-message.ts";

/** A session that is there, or the columns of one that is made with its first message. */
export type ConversationStart =
  | { readonly kind: "existing"; readonly session: Session }
  | {
      readonly kind: "new";
      readonly columns: NewSession & { readonly persona_name: string | null };
    };

/** Session as a front end uses it. Nothing is stored before the first message or command. */
export interface Conversation extends ConversationChanges {
  /** The session as last seen; null while nothing has been stored. */
  current(): Session | null;
  /** Returns what a session that is not there yet will begin with. */
  planned(): {
    readonly model: string | null;
    readonly persona_name: string;
    readonly repo_path: string | null;
  };
  /**
   * Null continues: see `ExchangeRequest`. `waits`: whatever the option says, it waits for its turn while another
   * exchange runs. Error codes: as `exchange`, `not_confirmed`.
   */
  send(text: string | null, live: Live, waits?: boolean): Promise<ExchangeResult>;
  /** Loads what the first message needs, ahead of it: `send` says what is wrong. */
  prepare(): void;
  /**
   * Runs the hooks of leaving the session, if a message was sent; what cannot be read of it is left out. `onNotice` gets
   * sentences for a person.
   */
  leave(reason: LeaveReason, onNotice: (sentence: string) => void): Promise<void>;
  /** Lists what the session's exchange and its sub-agents ask. */
  openQuestions(): Promise<readonly OpenQuestion[]>;
  /** Gives the session's questions their default answers whose time is over; `send(null)` then continues. */
  answerDue(): Promise<void>;
  /**
   * Answers a question; `send(null)` then continues. Without `continues`, a node may do so too. Error codes: as
   * `answerQuestion`.
   */
  answer(
    question: OpenQuestion,
    answer: { readonly given: GivenReply; readonly note: string | null },
    continues: boolean,
  ): Promise<void>;
  /** Reads the session again, after another process has worked in it. Error codes: `session_not_found`. */
  refresh(): Promise<Session | null>;
  /** Stops what any process does in the session now. Error codes: as `stopCurrent`, `exchange_ended` without a session. */
  stop(): Promise<ExchangeRecord>;
  /** True if the last exchange failed and can be continued; false if that cannot be read. */
  hasFailed(): Promise<boolean>;
  /** True if an exchange has begun that is not over; null if that cannot be read. */
  isOpen(): Promise<boolean | null>;
  /** Lets the model summarise its older messages; null if nothing was stored yet. */
  compact(signal: AbortSignal): Promise<Compacted | null>;
  /** Begins a fresh agent thread; `archive` hides the messages so far as well. */
  startThread(change: {
    readonly archive: boolean;
    readonly model?: string;
    readonly persona_name?: string;
  }): Promise<Session>;
  /**
   * Lets another model continue the thread.
   *
   * Error codes: as `checkModel`; `session_busy` while an exchange runs or waits for an answer.
   */
  switchModel(model: string): Promise<Session>;
  /** Returns how much of its context the model would read now; null if nothing was stored, or if that is unknown. */
  contextUse(): Promise<ContextUse | null>;
  /** Usage and cost of the requests of models; null if nothing was stored. */
  cost(): Promise<TreeUsage | null>;
  setPlanMode(on: boolean): Promise<Session>;
  /**
   * Sets what is given, for the next exchange. Error codes: `effort_unknown` if the model does not take it,
   * `invalid_usage` if the agent is not the built-in one.
   */
  setModelSettings(settings: Partial<ModelChoice>): Promise<Session>;
  /** What the session sets. */
  modelSettings(): ModelChoice;
  /** Error codes: `invalid_request` in a sub-agent's session, `invalid_usage` if the agent is not the built-in one. */
  setPermission(mode: PermissionMode): Promise<Session>;
  /** Every rule that calls are judged by. Error codes: as `readJudgement`. */
  permissions(): Promise<Judgement>;
  /** The mode of `permissions`, without what a decision needs. Error codes: as `permissions`. */
  mode(): Promise<PermissionMode>;
  /** As `explainCall`, for the session. */
  explain(call: string): Promise<Decision>;
  /** As `explainHooks`, for the session. */
  explainHooks(call: string): Promise<readonly Hook[]>;
  /** Takes a rule of the session back; false if it has none such. */
  removeRule(rule: string): Promise<boolean>;
  /**
   * Forks the session at the end of the last exchange up to a message, and continues in the fork. Error codes: as
   * `forkSession`; `invalid_usage` if nothing was stored.
   */
  fork(at_seq: number | undefined): Promise<ForkedConversation>;
  /** Names the session, which begins with that if nothing was stored. Error codes: as `patchSession`. */
  rename(name: string): Promise<void>;
  /** Null if nothing was stored, so that there is nothing to end. */
  end(): Promise<Session | null>;
  /** Error codes: `persona_not_found`, `persona_invalid`, `folder_not_trusted`, `invalid_usage`. */
  checkPersona(name: string): Promise<Persona>;
  /** Error codes: as `requireModel`; `invalid_usage` if the agent is not the built-in one. */
  checkModel(name: string): Promise<void>;
}

export interface ConversationOptions {
  readonly config: ExchangerConfig;
  /** Called once, before the first exchange. */
  readonly openExchanger: OpenExchanger;
  /** The name of the agent that the exchanger runs; null for the built-in one. */
  readonly agent: string | null;
  readonly start: ConversationStart;
  readonly whenBusy: WhenBusy;
  readonly principal: Principal;
  readonly confirmation: Confirmation;
}

export function createConversation(options: ConversationOptions): Conversation {
  const { config, agent, start, whenBusy, principal, confirmation } = options;
  const { store, personas } = config;
  const settings = async (): Promise<Pick<FolderSettings, "models" | "effort">> => {
    const folder = session?.repo_path ?? columns?.repo_path ?? null;
    return (await config.settings?.at(folder)) ?? { models: modelConfig(config.env), effort: null };
  };
  const models = async (): Promise<ModelConfig> => (await settings()).models;
  const columns = start.kind === "new" ? start.columns : null;
  let session = start.kind === "existing" ? start.session : null;
  let exchanger: Promise<Exchanger> | null = null;
  const opened = (): Promise<Exchanger> => (exchanger ??= options.openExchanger(config));

  const stored = async (): Promise<Session> =>
    (session ??= await store.write(createSession, columns ?? {}));
  const checkModel = async (name: string): Promise<void> => {
    refuseSetting(agent);
    requireModel({ name, effort: null, isPriceLimited: await isPriceLimited() }, await models());
  };
  const isPriceLimited = async (): Promise<boolean> =>
    session === null
      ? columns?.price_limits !== undefined
      : (await store.read(readLeaseState, { session_id: session.id })).is_price_limited;
  const keep = (changed: Session): Session => (session = changed);
  const place = (): CallPlace => ({
    session,
    repo_path: session?.repo_path ?? columns?.repo_path ?? null,
    persona_name: session?.persona_name ?? columns?.persona_name ?? DEFAULT_PERSONA,
    mode: columns?.plan_mode === true ? "plan" : (columns?.permission ?? null),
  });

  return {
    current: () => session,
    planned: () => ({
      model: session?.model ?? columns?.model ?? null,
      persona_name: session?.persona_name ?? columns?.persona_name ?? DEFAULT_PERSONA,
      repo_path: session?.repo_path ?? columns?.repo_path ?? null,
    }),
    send: async (text, live, waits = false) => {
      if (text !== null) {
        refuseUnstorable(text);
      } else if (session === null) {
        throw hasNotBegun();
      }
      if (session === null && columns !== null && agent === null) {
        await checkNewSession({ settings: await settings(), personas }, answeringIn(columns));
      }
      const open = await opened();
      const lease_state = session === null ? null : await confirmed(store, confirmation, session);
      const { id } = await stored();
      const result = await open.exchange(
        {
          session_id: id,
          text,
          when_busy: waits ? "wait" : whenBusy,
          has_waited: waits,
          principal,
          ...(lease_state === null ? {} : { lease_state }),
        },
        live,
      );
      keep(result.session);
      return result;
    },
    prepare: () => void opened().catch(() => undefined),
    leave: async (reason, onNotice) => {
      const open = await exchanger?.catch(() => null);
      if (session !== null) {
        const { signal } = new AbortController();
        const request = { session_id: session.id, reason, onNotice };
        await open?.leave?.(request, { signal }).catch(() => {});
      }
    },
    // loaded when it is used: a prompt can be shown without it
    answerDue: async () => {
      if (session !== null) {
        const { answerDue } = await import("./answer-due.ts");
        await answerDue(store, session.id);
      }
    },
    openQuestions: () =>
      session === null
        ? Promise.resolve([])
        : store.read(listOpenQuestions, { reference: session.id }),
    answer: async ({ id: question, session_id: reference }, { given, note }, continues) => {
      const answered_by = principal.origin;
      const { answerQuestion } = await import("../store/records/questions/answer.ts");
      await store.write(answerQuestion, {
        reference,
        question,
        given,
        note,
        answered_by,
        principal,
        continues,
      });
    },
    refresh: async () =>
      session === null ? null : keep(await store.read(readSession, { id: session.id })),
    stop: async () => {
      if (session === null) {
        throw new RepriseError(
          "exchange_ended",
          "No session was stored, so there is nothing to stop.",
        );
      }
      const { stopCurrent } = await import("../store/records/exchanges/change.ts");
      return store.write(stopCurrent, { reference: session.id });
    },
    hasFailed: () => (session === null ? Promise.resolve(false) : hasFailed(store, session.id)),
    isOpen: () => (session === null ? Promise.resolve(false) : isOpen(store, session.id)),
    compact: async (signal) => {
      if (session === null) {
        return null;
      }
      await confirmation.confirmChoices(session);
      const open = await opened();
      const request = { session_id: session.id, when_busy: whenBusy };
      const compacted = await open.compact(request, { signal });
      keep(compacted.session);
      return compacted;
    },
    startThread: async (change) =>
      keep(await beginThread(store, { id: (await stored()).id, ...change, principal })),
    switchModel: async (model) => {
      await checkModel(model);
      return keep(await continueWith(store, { id: (await stored()).id, model, principal }));
    },
    contextUse: async () => {
      const name = session?.model ?? null;
      if (session === null || name === null || agent !== null) {
        return null;
      }
      const { window } = modelSettings({ name, config: await models() });
      return (await opened()).contextUse(session, window);
    },
    cost: async () => {
      const { readTreeUsage } = await import("../store/records/model-calls/read-usage.ts");
      return session === null ? null : store.read(readTreeUsage, { id: session.id });
    },
    setPlanMode: async (on) => {
      refuseSetting(agent);
      return keep(
        await store.write(setPlanMode, { id: (await stored()).id, plan_mode: on, principal }),
      );
    },
    setModelSettings: async (settings) => {
      refuseSetting(agent);
      if (settings.effort !== undefined) {
        const config = await models();
        const { persona_name, repo_path } = place();
        const persona = await checkPersona(personas, { name: persona_name, repo_path });
        const own = session?.model ?? columns?.model ?? null;
        const name = chosenModel({ session: own, persona, config });
        checkEffort(settings.effort, name, modelFacts(name, config));
      }
      return keep(await store.write(setModelSettings, { id: (await stored()).id, settings }));
    },
    modelSettings: () => ({
      effort: session?.effort ?? columns?.effort ?? null,
      cache: session?.cache ?? columns?.cache ?? null,
      fallback: session?.fallback ?? columns?.fallback ?? null,
    }),
    setPermission: async (mode) => {
      refuseSetting(agent);
      return keep(
        await store.write(setPermissionMode, { id: (await stored()).id, mode, principal }),
      );
    },
    mode: async () => {
      refuseSetting(agent);
      const { mode, repo_path } = place();
      return session === null
        ? (mode ?? (await config.settings?.at(repo_path))?.permission.mode ?? "ask")
        : (await store.read(readPermissions, session)).mode;
    },
    permissions: async () => {
      refuseSetting(agent);
      const { readJudgement } = await import("../rules/permissions/explain.ts");
      return readJudgement(config, place());
    },
    explain: async (call) => {
      refuseSetting(agent);
      const { explainCall } = await import("../rules/permissions/explain.ts");
      return explainCall(config, place(), call);
    },
    explainHooks: async (call) => {
      const { explainHooks } = await import("../rules/permissions/explain.ts");
      return explainHooks(config, place(), call);
    },
    removeRule: async (rule) => {
      return session !== null && store.write(removeRule, { id: session.id, rule });
    },
    ...changesOfConversation(config, { session: () => session, principal }),
    fork: async (at_seq) => {
      if (session === null) {
        throw new RepriseError(
          "invalid_usage",
          "No session was stored yet, so there is nothing to fork. Send a message first.",
        );
      }
      const { forkConversation } = await import("./fork-conversation.ts");
      const forked = await forkConversation(store, { id: session.id, at_seq, principal });
      keep(forked.fork);
      return forked;
    },
    rename: async (name) => {
      const { id } = await stored();
      const { patchSession } = await import("../store/records/sessions/patch.ts");
      const change = { name };
      await store.write(patchSession, { reference: id, change, project_key: null, principal });
      keep(await store.read(readSession, { id }));
    },
    end: async () =>
      session === null ? null : keep(await store.write(endSession, { id: session.id })),
    checkPersona: async (name) => {
      refuseSetting(agent);
      const repo_path = session?.repo_path ?? columns?.repo_path ?? null;
      return checkPersona(personas, { name, repo_path });
    },
    checkModel,
  };
}

/** Error codes: `invalid_usage`. */
function refuseSetting(agent: string | null): void {
  if (agent !== null) {
    throw new RepriseError(
      "invalid_usage",
      "This agent chooses its model and its instructions itself. Change them in its module.",
    );
  }
}

async function isOpen(store: Store, id: string): Promise<boolean | null> {
  try {
    return (await store.read(readSession, { id })).activity !== "idle";
  } catch (error) {
    if (isRepriseError(error)) {
      return null;
    }
    throw error;
  }
}

async function hasFailed(store: Store, id: string): Promise<boolean> {
  try {
    return (await store.read(readFailures, { ids: [id] })).size > 0;
  } catch (error) {
    if (isRepriseError(error)) {
      return false;
    }
    throw error;
  }
}

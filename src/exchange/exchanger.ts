import { isRepriseError } from "../core/errors.ts";
import type { SandboxSource } from "../workspace/sandbox/probe.ts";
import type { AskedBy } from "../core/exchanges.ts";
import type { Principal } from "../core/principal.ts";
import type { DefaultAnswer, Repeats } from "../core/questions.ts";
import type { CallFacts } from "../core/calls.ts";
import type { MadeCall, Session } from "../core/sessions.ts";
import type { ClaimedExchange } from "../store/records/exchanges/ready.ts";
import type { Fence } from "../store/records/leases/fence.ts";
import type { LeaseState } from "../store/records/leases/lease.ts";
import type { ExchangeListener, ExchangeResult } from "./events.ts";
import { isLacking, isPassing } from "./exchange-failure.ts";
import type { Feed } from "./live/feed.ts";
import type { WhenBusy } from "./lease-holder.ts";
import type { Secrets } from "../core/secrets.ts";
import type { JudgeSource } from "../rules/permissions/judge.ts";

/** From what a program makes its exchanger. */
export interface ExchangerConfig extends JudgeSource {
  /** Shared by all that runs exchanges in the process; a separate one if it is not given. */
  readonly feed?: Feed;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the outputs of commands are kept; null for nowhere. Without it no command is run. */
  readonly outputFolder?: string | null;
  /** Without it commands run in no sandbox. */
  readonly sandbox?: SandboxSource;
  /** Paths that no tool may touch even inside the repo, besides the database. */
  readonly protectedPaths: readonly string[];
  /**
   * Texts that results of tools and questions must not hold, besides the keys of models. Called at the beginning of
   * each exchange.
   */
  readonly secrets?: Secrets | undefined;
  /** Keeps the bytes of files that tools change: see `createKeptBytes`. None by default. */
  readonly undoFolder?: string | null;
  /** For MCP servers; without it none is used. */
  readonly mcp?: {
    /** Keeps lists of tools and logs; null for nowhere. */
    readonly folder: string | null;
    /** Version of Reprise that servers get. */
    readonly version: string;
  };
  /** Default answer to the questions that its exchanges ask. */
  readonly defaultAnswer?: DefaultAnswer | undefined;
  /** Called with the path of each plan that an agent has handed in, in the folder of its session. */
  readonly onPlan?: (path: string) => void;
}

/** Loads the agent's libraries. Error codes: `config_invalid`. */
export type OpenExchanger = (config: ExchangerConfig) => Promise<Exchanger>;

/**
 * An agent that is not ours. Its exchanger reads the store of the config only. Until it is disposed of, our code imports
 * the packages of its folder.
 */
export interface OpenedAgent extends Disposable {
  /** As a session keeps it. */
  readonly name: string;
  readonly openExchanger: OpenExchanger;
}

export interface ExchangeRequest {
  readonly session_id: string;
  /**
   * The user's message, which abandons an interrupted exchange; null to continue: from the
   * checkpoint of an interrupted exchange, or with the messages that were appended through the API.
   */
  readonly text: string | null;
  /** `refuse` if it is not given. */
  readonly when_busy?: WhenBusy;
  /** True if a request for the same message has found the session busy. */
  readonly has_waited?: boolean;
  /**
   * Fate of a half answer when the exchange is stopped: kept as the answer, or dropped, so that continuing asks for
   * it again. Kept if it is not given.
   */
  readonly keep_partial?: boolean;
  /** Who sends the message; unknown callers count as authenticated. */
  readonly principal?: Principal;
  /** Who asks for the exchange; the caller if it is not given. */
  readonly asked_by?: AskedBy;
  /** The queued exchange that is run, as it was read; its process gives it back when it stops. */
  readonly claim?: ClaimedExchange;
  /** The session as its caller has read it just before; else it is read first. */
  readonly lease_state?: LeaseState;
  /** Number of the exchange of the parent session, for a sub-agent. */
  readonly parent_n?: number | null;
  /** Lease of that exchange, for a sub-agent. Once it is lost, this one does not begin. */
  readonly parent_fence?: Fence;
}

/**
 * True for an exchange of a service that is continued later, because this process stops, or something
 * of this node or its database has ended it.
 */
export function isGivenBack(
  isOfService: boolean,
  { signal }: Pick<Live, "signal">,
  error?: unknown,
): boolean {
  const isOfNode = isPassing(error) || isLacking(error);
  return isOfService && (isOfNode || isRepriseError(signal.reason, "shutting_down"));
}

/** Returns true for an exchange that a person began at a terminal, also if a node continues it. */
export function isFromTerminal({
  asked_by,
  principal,
}: Pick<ExchangeRequest, "asked_by" | "principal">): boolean {
  return (asked_by ?? principal?.origin) === "terminal";
}

/** A call that may have taken effect; a graph of others says no more of it. */
export type RepeatedCall = MadeCall & Partial<CallFacts>;

export interface CallOutput {
  /** The session of the call: ids of calls are unique in one alone. */
  readonly session_id: string;
  readonly call_id: string;
  readonly text: string;
}

export interface Live {
  readonly listener: ExchangeListener;
  /**
   * Aborting stops the exchange and keeps the text that had arrived; the session can be continued.
   */
  readonly signal: AbortSignal;
  /** Gets what a command prints, as it comes, in whole lines; of sub-agents too. */
  readonly onOutput?: (output: CallOutput) => void;
  /** `ask` for an exchange that a person began at a terminal, else `never`, if it is not given. */
  readonly repeats?: Repeats | undefined;
  /**
   * True if the listener cannot take reported text back. An answer that broke off after its first
   * text then fails instead of beginning again.
   */
  readonly textIsFinal?: boolean;
}

export interface Exchanger {
  /**
   * Runs one exchange. The user's row is durable before the model is called; every
   * checkpoint commits together with its rows in the mirror.
   *
   * Error codes: `session_not_found`, `session_ended`, `session_busy`, `question_open`, `lease_lost`,
   * `persona_*`, `model_*`, `nothing_to_continue`, `call_limit_reached`, `budget_reached`, `price_limit_reached`, `price_unknown`,
   * `database_*`.
   */
  exchange(request: ExchangeRequest, live: Live): Promise<ExchangeResult>;

  /**
   * Summarises all but the last exchange of the session's thread for the model; every message
   * stays. The summary is a message of the session and its tokens count.
   *
   * Error codes: as `exchange`, and `exchange_interrupted` if tool calls still wait for
   * their results.
   */
  compact(request: CompactRequest, live: Pick<Live, "signal">): Promise<Compacted>;

  /**
   * Returns how much a model with a context of so many tokens would read of the session's thread now; null if the
   * agent has its own model. Error codes: `database_*`.
   */
  contextUse(session: Session, window: number): Promise<ContextUse | null>;

  /**
   * Runs the hooks of a process that leaves a session, if it has run a message of the session. An agent without hooks has
   * none. Error codes: as `exchange`.
   */
  leave?(request: LeaveRequest, live: Pick<Live, "signal">): Promise<void>;
}

export interface LeaveRequest {
  readonly session_id: string;
  readonly reason: LeaveReason;
  /** Gets sentences for a person. */
  readonly onNotice: (sentence: string) => void;
}

/** Why a process leaves a session: "SessionEnd" of Claude Code's hooks reference. */
export type LeaveReason = "clear" | "prompt_input_exit" | "other";

export interface ContextUse {
  /** Tokens of the thread, about. */
  readonly tokens: number;
  /** Tokens that the model reads at most. */
  readonly window: number;
  /** True if the next exchange begins with a summary. */
  readonly isFull: boolean;
  /** Estimates of what the tokens are; together they are `tokens`. */
  readonly parts: ContextParts;
}

/** Tokens by what they are, about. */
export interface ContextParts {
  /** System prompt and definitions of the tools. */
  readonly prefix: number;
  /** Summary of older messages, with what it keeps besides. */
  readonly summary: number;
  readonly user: number;
  /** Answers of the model, with its calls and reasoning. */
  readonly answers: number;
  /** Results of tools. */
  readonly results: number;
}

export interface CompactRequest {
  readonly session_id: string;
  /** `refuse` if it is not given. */
  readonly when_busy?: WhenBusy;
}

export interface Compacted {
  readonly session: Session;
  /**
   * `nothing` if no summary can be added: there is no unsummarised exchange before the last one.
   */
  readonly outcome: "compacted" | "nothing" | "stopped";
}

import type { BaseMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";

import type { RepriseError } from "../core/errors.ts";
import type { ChildReservation, ExchangeTree } from "../exchange/exchange-tree.ts";
import type { ExpectedArtifact } from "../plans/artifact-file.ts";
import type { ExchangeLimits } from "../core/exchange-limits.ts";
import type { CommandOptions } from "./commands/commands.ts";
import type { ConfiguredServers } from "../mcp/configured-servers.ts";
import type { HeldServers } from "../mcp/held-servers.ts";
import type { McpOptions } from "../mcp/servers.ts";
import type { Exchanger, ExchangerConfig, ExchangeRequest, Live } from "../exchange/exchanger.ts";
import type { Report } from "../exchange/report-events.ts";
import type { KeptBytes } from "../workspace/undo/kept-bytes.ts";
import type { NoticeModel } from "./model-notices.ts";
import type { KnownFiles } from "./known-files.ts";
import type { ThreadState } from "./messages/thread-state.ts";
import type { CacheLife, Fallback } from "../core/model-settings.ts";
import type { Hook } from "../rules/hooks/hook.ts";
import type { OpenedHooks } from "./hooks/open-hooks.ts";
import type { ModelConfig } from "../rules/models/config.ts";
import type { Judge } from "../rules/permissions/judge.ts";
import type { Scrub } from "../core/text/scrub.ts";
import type { Conceal, Secret } from "../core/secrets.ts";
import type { Skill } from "../rules/skills/skill.ts";
import type { Persona } from "../rules/personas/persona.ts";
import type { TakenSessions } from "./taken-sessions.ts";
import type { SandboxLimits } from "../workspace/sandbox/policy.ts";
import type { CheckPlan } from "./tools/hand-in-plan.ts";
import type { HeldThread, ThreadHolderOptions } from "./driver/thread-holder.ts";
import type { AnsweringModel } from "./answering-model.ts";
import type { openModel } from "./models/open.ts";
import type { ProviderPauses } from "./models/provider-pause.ts";

export interface AgentOptions extends Omit<ExchangerConfig, "env" | "mcp">, ThreadHolderOptions {
  /** What commands get; without it none is run. */
  readonly commands?: CommandOptions | undefined;
  /** Options of MCP servers; without them none is used. */
  readonly mcp?: McpOptions | undefined;
  /**
   * Tools that every exchange has besides its own, as far as the persona allows them. Without an entry in `tools`,
   * one may change something, once more at each call.
   */
  readonly programTools?: readonly StructuredToolInterface[];
  /** Validates the plans that are handed in; without it none can be. */
  readonly checkPlan?: CheckPlan;
  readonly models: ModelConfig;
  /** Limits of an exchange with its sub-agents; `EXCHANGE_LIMITS` if it is not given. No sub-agent's exchanger has it. */
  readonly limits?: ExchangeLimits;
  /** The tree that the exchanges belong to and their place in it; each begins one without it. */
  readonly within?: ChildPlace & {
    /** True if a service runs the exchange at the top. */
    readonly isUnattended: boolean;
  };
  /** Shared by all exchanges of the process. */
  readonly pauses?: ProviderPauses;
  /** Shared by all of them: keeps what its tools change, from `undoFolder`. */
  readonly kept?: KeptBytes | null;
  /** Shared by all exchanges of the process. */
  readonly noticeModel?: NoticeModel;
  /** Shared by all exchanges of the process: servers whose calls wait for a person. */
  readonly heldServers?: HeldServers;
  /** Opens the model that a name means; the providers' own clients if it is not given. */
  readonly openModel?: typeof openModel;
}

/** The tree that counts for a sub-agent, and its slot there. */
export interface ChildPlace {
  readonly tree: ExchangeTree;
  readonly reservation: ChildReservation;
}

/** With what all exchanges of an exchanger share. */
export type OpenedOptions = AgentOptions &
  Required<Pick<AgentOptions, "pauses" | "noticeModel" | "kept" | "tools" | "heldServers">> & {
    /** As of `sentMessages`. */
    readonly sent: WeakMap<BaseMessage, object>;
  };

/** One exchange under its lease, for all that take part in it. */
export interface ExchangeContext extends HeldThread {
  readonly options: OpenedOptions;
  readonly prepared: Prepared;
  readonly request: ExchangeRequest;
  readonly live: Live;
  readonly report: Report;
  /** The thread, read under the lease. */
  readonly state: ThreadState;
  readonly known: KnownFiles;
  readonly tree: ExchangeTree;
  /** Null if no command runs at an event. */
  readonly hooks: OpenedHooks | null;
  readonly taken: TakenSessions;
  /** In each prefix of the session's threads that was made in this database; null for none. */
  readonly prefixMark: string | null;
  /** Called before each call of a model; rejects if there may be no more. */
  readonly mayCall: () => Promise<void>;
  /** As `unpricedAnswer`. */
  readonly unpriced: () => RepriseError | null;
  /** As of `WorkingModel`; null if nobody can be asked. */
  readonly askAtLimit: (() => Promise<void>) | null;
  /** Makes what runs the exchange of a sub-agent, within this tree: its limits are the tree's, and not those of the options. */
  readonly openExchanger: (place: ChildPlace) => Exchanger;
}

/** What an exchange needs before it begins. */
export interface Prepared extends AnsweringModel {
  /** Models that answer in the place of this one, in the order in which they are tried. */
  readonly fallback: Fallback;
  /** Opens one of them. Error codes: as `openAnswering`. */
  readonly openFallback: (name: string) => Promise<AnsweringModel>;
  /** True if an exchange of a service waits for the end of a limit of its provider. */
  readonly waitsForLimits: boolean;
  /** How long the provider keeps what it has read of the conversation. */
  readonly cacheLife: CacheLife;
  readonly persona: Persona;
  /** The folder whose files the tools use; null for none. */
  readonly folder: string | null;
  /** Its real path, which it had when the exchange began. */
  readonly root: string | null;
  /** True if commands may run there. */
  readonly mayRun: boolean;
  /** True if no tool may write there, because of the folder's name. */
  readonly readOnly: boolean;
  /** The artifact that the session has to hand in; null for a session that works on no phase with one. */
  readonly artifact: ExpectedArtifact | null;
  /** Judges its calls. */
  readonly judge: Judge;
  readonly instructions: string | null;
  /** Skills of its folder, if that is trusted, and of the user. */
  readonly skills: readonly Skill[];
  /** Adds secrets that are known only now, such as the token of a login. */
  readonly learn: (secrets: readonly Secret[]) => void;
  /** Replaces the secrets of Reprise. */
  readonly conceal: Conceal;
  /** Takes them out of what providers write, with parts of them and what looks like one. */
  readonly scrub: Scrub;
  /** What the exchange and its sub-agents may use. */
  readonly limits: ExchangeLimits;
  /** The MCP servers of the folder, as far as the persona has tools of them. */
  readonly mcp: ConfiguredServers;
  /** Names of variables that commands get besides, after the configuration. */
  readonly environment: readonly string[];
  /** What of the home its commands in the sandbox see besides, after the configuration. */
  readonly visible: readonly string[];
  /** Of its commands in the sandbox. */
  readonly sandboxLimits: SandboxLimits;
  /** The user's, then those of the folder that the user has seen. */
  readonly configuredHooks: readonly Hook[];
}

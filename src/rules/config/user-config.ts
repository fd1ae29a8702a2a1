import type { CacheLife, Effort, Fallback, WhenLimited } from "../../core/model-settings.ts";
import type { PermissionMode } from "../../core/permissions.ts";
import type { ScopedLimits } from "../../core/cost/limits.ts";
import type { ExchangeLimits } from "../../core/exchange-limits.ts";
import type { ModelOverride } from "../models/facts.ts";
import type { Hook } from "../hooks/hook.ts";
import type { ProviderEntry } from "../models/provider-config.ts";
import type { Rule } from "../permissions/rule.ts";
import type { McpEntries } from "../servers/server.ts";
import type { SandboxLimits } from "../../workspace/sandbox/policy.ts";

/** Part of a config file for all folders, or for one. */
export interface ConfigSection {
  readonly model: string | null;
  readonly effort: Effort | null;
  readonly cache: CacheLife | null;
  readonly fallback: Fallback | null;
  readonly whenLimited: WhenLimited | null;
  readonly persona: string | null;
  readonly mode: PermissionMode | null;
  /** Rules that allow, then those that ask, then those that deny: the strictest is the last one. */
  readonly rules: readonly Rule[];
  readonly protected: readonly ProtectedPath[];
  readonly limits: Partial<ExchangeLimits>;
  readonly tokens: ScopedLimits;
  /** In micro-dollars. */
  readonly prices: ScopedLimits;
  /** Names of variables that commands get besides. */
  readonly environment: readonly string[];
  /** Limits of commands in the sandbox. */
  readonly sandbox: SandboxMaxima;
  /** Paths of the home that commands in the sandbox see besides, relative to it. */
  readonly visible: readonly string[];
  readonly hooks: readonly Hook[];
  /** MCP servers by their names. */
  readonly mcp: McpEntries;
}

/** Limits of a command in the sandbox that the config sets. */
export type SandboxMaxima = Readonly<Partial<Pick<SandboxLimits, SandboxLimit>>>;
type SandboxLimit = (typeof SANDBOX_KEYS)[keyof typeof SANDBOX_KEYS]["limit"];

/** Path that no tool touches: a file or folder by its absolute path, or a pattern below the session's folder. */
export type ProtectedPath = { readonly path: string } | { readonly pattern: string };

/** Settings for one folder and all below it. */
export interface FolderSection {
  /** The key as it is written, and the absolute path that it means. */
  readonly written: string;
  readonly folder: string;
  readonly section: ConfigSection;
}

/** Values of `theme`: `auto` asks the terminal. */
export const THEMES = ["auto", "dark", "light", "none"] as const;
export type ThemeSetting = (typeof THEMES)[number];

/** How a person is notified of an exchange that took long. */
export const NOTIFICATIONS = ["off", "bell", "system"] as const;
export type Notifications = (typeof NOTIFICATIONS)[number];

/** Whether messages are indexed and searched. */
export const SEARCH_SETTINGS = ["on", "off"] as const;
export type SearchSetting = (typeof SEARCH_SETTINGS)[number];

export interface UserConfig extends ConfigSection {
  /** Theme of the screen. */
  readonly theme: ThemeSetting | null;
  readonly notifications: Notifications | null;
  readonly search: SearchSetting | null;
  /** Texts that an export with `--redact` leaves out, each with at most one `*`. */
  readonly redact: readonly string[];
  /** By their names: some that come with Reprise, and others. */
  readonly providers: Readonly<Record<string, ProviderEntry>>;
  /** What it says of models, by `provider:model`. */
  readonly models: Readonly<Record<string, ModelOverride>>;
  readonly folders: readonly FolderSection[];
}

/** The keys of `limits`, and what they limit. */
export const LIMIT_KEYS = {
  children_at_once: "childrenAtOnce",
  children: "children",
  model_calls: "modelCalls",
} as const satisfies Readonly<Record<string, keyof ExchangeLimits>>;

/** The keys of `sandbox.limits`, and how much of what limit 1 of it is. */
export const SANDBOX_KEYS = {
  processes: { limit: "processes", unit: 1 },
  memory_mib: { limit: "memory", unit: 1024 * 1024 },
  file_mib: { limit: "file", unit: 1024 * 1024 },
} as const satisfies Readonly<Record<string, { limit: keyof SandboxLimits; unit: number }>>;

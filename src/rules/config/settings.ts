import type { CacheLife, Effort, Fallback, WhenLimited } from "../../core/model-settings.ts";
import type { PermissionMode } from "../../core/permissions.ts";
import type { ScopedLimits } from "../../core/cost/limits.ts";
import { realPathOf } from "../../store/project-key.ts";
import { type ExchangeLimits, exchangeLimits } from "../../core/exchange-limits.ts";
import { isInside } from "../../workspace/files/real-path.ts";
import type { Hook } from "../hooks/hook.ts";
import { type ModelConfig, modelConfig } from "../models/config.ts";
import type { KeySource, ProviderConfig } from "../models/provider-config.ts";
import type { ConfigPermission, Layer } from "../permissions/layers.ts";
import type { McpEntries } from "../servers/server.ts";
import { type ConfigText, readConfigText } from "./read-text.ts";
import type { ConfigSection, ProtectedPath, SandboxMaxima, UserConfig } from "./user-config.ts";

/** Where the settings of one user come from. */
export interface SettingsSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's config file, which need not be there; null if there is no place for it. */
  readonly file: string | null;
  /** For paths that begin with `~/`. */
  readonly home: string;
}

/** Settings that count in one folder: the environment, the config for the folder, the config, the defaults. */
export interface FolderSettings {
  readonly models: ModelConfig;
  /** Of sessions and personas that choose none; null for the model's default. */
  readonly effort: Effort | null;
  readonly cache: CacheLife | null;
  /** Models that answer in the place of one that cannot; null if nothing names any. */
  readonly fallback: Fallback | null;
  /** `fail` if nothing says it. */
  readonly whenLimited: WhenLimited | null;
  /** Who answers in sessions that name nobody; null if nothing names one. */
  readonly persona: string | null;
  readonly permission: ConfigPermission;
  readonly protected: readonly ProtectedPath[];
  readonly limits: ExchangeLimits;
  /** Limits of tokens for new sessions. */
  readonly tokens: ScopedLimits;
  /** And of the price, in micro-dollars. */
  readonly prices: ScopedLimits;
  /** Names of variables that commands get besides. */
  readonly environment: readonly string[];
  /** Limits of commands in the sandbox, as far as the config sets them. */
  readonly sandbox: SandboxMaxima;
  /** Paths of the home that commands in the sandbox see besides, relative to it. */
  readonly visible: readonly string[];
  /** Of all sections, the weakest first. */
  readonly hooks: readonly Hook[];
  /** MCP servers by their names; an inner section replaces the whole entry of a name. */
  readonly mcp: McpEntries;
  /** Sections of the config that they come from, the weakest first. */
  readonly sections: readonly NamedSection[];
}

/** The settings of one user, read again whenever their file has changed. */
export interface Settings {
  /** For a session in this folder, or in none. Error codes: `config_invalid`. */
  at(folder: string | null): Promise<FolderSettings>;
  /** The config as it is written; null if there is none. Error codes: `config_invalid`. */
  config(): Promise<UserConfig | null>;
}

/** Opens nothing. The parser is loaded only if there is a file. */
export function createSettings({ env, file, home }: SettingsSource): Settings {
  const readers = new Map<string, () => Promise<string>>();
  /** Returns one reader while the config says the same: it keeps what a command gave. */
  const readerOf = (provider: string, source: StoredKey): (() => Promise<string>) => {
    const id = JSON.stringify([provider, source]);
    let reader = readers.get(id);
    if (reader === undefined) {
      const loaded = once(async () => {
        const { createKeyReader } = await import("./keys.ts");
        const field = "file" in source ? "key_file" : "key_command";
        const place = `providers.${provider}.${field} in the config`;
        return createKeyReader(source, { place, code: "config_invalid", env });
      });
      reader = async () => (await loaded())();
      readers.set(id, reader);
    }
    return reader;
  };
  let kept: { readonly stamp: string; readonly config: UserConfig | null } | null = null;
  const config = async (): Promise<UserConfig | null> => {
    const read: ConfigText | null = file === null ? null : await readConfigText(file);
    if (file === null || read === null) {
      return null;
    }
    if (kept?.stamp !== read.stamp) {
      const { loadUserConfig } = await import("./load-config.ts");
      kept = { stamp: read.stamp, config: loadUserConfig(read.text, { file, home }) };
    }
    return kept.config;
  };
  return {
    config,
    at: async (folder) => {
      const found = await config();
      const { models, ...settings } = combined(env, found, await sectionsAt(found, folder));
      const withReader = (name: string, provider: ProviderConfig): ProviderConfig => {
        const { keySource } = provider;
        return keySource === null || "variable" in keySource
          ? provider
          : { ...provider, readKey: readerOf(name, keySource) };
      };
      const providers = Object.entries(models.providers).map(
        ([name, provider]): [string, ProviderConfig] => [name, withReader(name, provider)],
      );
      const files = Object.values(found?.providers ?? {}).flatMap(({ key }) =>
        key !== null && "file" in key ? [{ path: key.file }] : [],
      );
      return {
        ...settings,
        models: { ...models, providers: Object.fromEntries(providers) },
        protected: [...settings.protected, ...files],
      };
    },
  };
}

type StoredKey = Exclude<KeySource, { readonly variable: string }>;

function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | null = null;
  return () => (result ??= work());
}

/** A section that counts, with the name of its layer. */
export interface NamedSection {
  readonly name: string;
  readonly section: ConfigSection;
  /** The keys that lead to it. */
  readonly path: readonly string[];
}

/** The sections for a folder: that for all folders, then those that it is in, the outer ones first. */
export async function sectionsAt(
  config: UserConfig | null,
  folder: string | null,
): Promise<readonly NamedSection[]> {
  if (config === null) {
    return [];
  }
  const all = { name: "config", section: config, path: [] };
  if (folder === null || config.folders.length === 0) {
    return [all];
  }
  const real = await realPathOf(folder);
  const folders = await Promise.all(
    config.folders.map(async (each) => ({ ...each, top: await realPathOf(each.folder) })),
  );
  return [
    all,
    ...folders
      .filter(({ top }) => isInside(top, real))
      .toSorted((a, b) => a.top.length - b.top.length)
      .map(({ written, section }) => ({
        name: `config for ${written}`,
        section,
        path: ["folders", written],
      })),
  ];
}

/** The last section that has a value counts; rules and protected paths of all of them do. */
function combined(
  env: SettingsSource["env"],
  config: UserConfig | null,
  sections: readonly NamedSection[],
): FolderSettings {
  const all = sections.map(({ section }) => section);
  const last = <Value>(of: (section: ConfigSection) => Value | null): Value | null =>
    all.map(of).findLast((value) => value !== null) ?? null;
  const models = modelConfig(env, config?.providers);
  return {
    models: {
      ...models,
      model: models.model ?? last(({ model }) => model),
      overrides: config?.models ?? {},
    },
    effort: last(({ effort }) => effort),
    cache: last(({ cache }) => cache),
    fallback: last(({ fallback }) => fallback),
    whenLimited: last(({ whenLimited }) => whenLimited),
    persona: last(({ persona }) => persona),
    permission: {
      mode: last<PermissionMode>(({ mode }) => mode),
      layers: sections
        .filter(({ section }) => section.rules.length > 0)
        .map(({ name, section }): Layer => ({ name, rules: section.rules, isConfig: true })),
    },
    protected: all.flatMap((section) => section.protected),
    limits: exchangeLimits(env, Object.assign({}, ...all.map(({ limits }) => limits))),
    tokens: Object.assign({}, ...all.map(({ tokens }) => tokens)),
    prices: Object.assign({}, ...all.map(({ prices }) => prices)),
    sandbox: Object.assign({}, ...all.map(({ sandbox }) => sandbox)),
    visible: [...new Set(all.flatMap(({ visible }) => visible))],
    environment: [...new Set(all.flatMap(({ environment }) => environment))],
    hooks: all.flatMap(({ hooks }) => hooks),
    mcp: Object.assign({}, ...all.map(({ mcp }) => mcp)),
    sections,
  };
}

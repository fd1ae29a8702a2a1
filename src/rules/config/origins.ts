import { DEFAULT_CACHE_LIFE } from "../../core/model-settings.ts";
import { LIMIT_SCOPES } from "../../core/cost/limits.ts";
import { dollarsOf } from "../../core/cost/money.ts";
import { defaultModel } from "../models/config.ts";
import type { KeySource, ProviderEntry } from "../models/provider-config.ts";
import { HOOK_EVENTS, hookLine } from "../hooks/hook.ts";
import { builtInProvider } from "../models/providers.ts";
import { type Effect, EFFECTS, ruleText } from "../permissions/rule.ts";
import { DEFAULT_PERSONA } from "../personas/persona.ts";
import type { McpEntry } from "../servers/server.ts";
import { SANDBOX_LIMITS } from "../../workspace/sandbox/policy.ts";
import type { FolderSettings } from "./settings.ts";
import { type ConfigSection, LIMIT_KEYS, SANDBOX_KEYS, type UserConfig } from "./user-config.ts";

/** A value that counts in a folder, and where it comes from. */
export interface SettingOrigin {
  /** As `config set` takes it. */
  readonly key: string;
  readonly value: unknown;
  /** A variable, a section of the config, or `default`. */
  readonly from: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Every key with the value that counts; of lists, one for each section that has some. No key of a provider is
 * among them, and no command that gives one.
 */
export function settingOrigins(
  settings: FolderSettings,
  env: Env,
  config: UserConfig | null,
): readonly SettingOrigin[] {
  const { models, persona, permission, limits, tokens, prices } = settings;
  const one = (
    key: string,
    value: unknown,
    of: (section: ConfigSection) => unknown,
    variable?: string,
  ): SettingOrigin => ({ key, value, from: originOf(settings, of, isSet(env, variable)) });
  return [
    one("model", defaultModel(models), ({ model }) => model, "REPRISE_MODEL"),
    one("effort", settings.effort, ({ effort }) => effort),
    one("cache", settings.cache ?? DEFAULT_CACHE_LIFE, ({ cache }) => cache),
    one("fallback", settings.fallback ?? [], ({ fallback }) => fallback),
    one("when_limited", settings.whenLimited ?? "fail", ({ whenLimited }) => whenLimited),
    one("persona", persona ?? DEFAULT_PERSONA, (section) => section.persona),
    one("permission.mode", permission.mode ?? "ask", ({ mode }) => mode),
    ...EFFECTS.flatMap((effect) =>
      lists(settings, `permission.${effect}`, (section) => rulesOf(section, effect)),
    ),
    ...lists(settings, "protected", (section) =>
      section.protected.map((entry) => ("path" in entry ? entry.path : entry.pattern)),
    ),
    ...lists(settings, "environment", ({ environment }) => environment),
    ...Object.entries(LIMIT_KEYS).map(([key, name]) =>
      one(
        `limits.${key}`,
        limits[name],
        (section) => section.limits[name] ?? null,
        `REPRISE_${key.toUpperCase()}`,
      ),
    ),
    ...LIMIT_SCOPES.map((name) =>
      one(`limits.tokens.${name}`, tokens[name] ?? null, (section) => section.tokens[name] ?? null),
    ),
    ...LIMIT_SCOPES.map((name) => {
      const micros = prices[name];
      const value = micros === undefined ? null : dollarsOf(micros);
      return one(`limits.price.${name}`, value, (section) => section.prices[name] ?? null);
    }),
    ...Object.entries(SANDBOX_KEYS).map(([key, { limit, unit }]) =>
      one(
        `sandbox.limits.${key}`,
        (settings.sandbox[limit] ?? SANDBOX_LIMITS[limit]) / unit,
        (section) => section.sandbox[limit] ?? null,
      ),
    ),
    ...lists(settings, "sandbox.visible", ({ visible }) => visible.map((name) => `~/${name}`)),
    ...HOOK_EVENTS.flatMap((event) =>
      lists(settings, `hooks.${event}`, (section) =>
        section.hooks.filter((hook) => hook.event === event).map(hookLine),
      ),
    ),
    ...settings.sections.flatMap(({ name, section }) =>
      Object.entries(section.mcp).flatMap(([server, entry]) => serverOrigins(server, entry, name)),
    ),
    {
      key: "theme",
      value: config?.theme ?? "auto",
      from: (config?.theme ?? null) === null ? "default" : "config",
    },
    {
      key: "notifications",
      value: config?.notifications ?? "bell",
      from: (config?.notifications ?? null) === null ? "default" : "config",
    },
    {
      key: "search",
      value: config?.search ?? "on",
      from: (config?.search ?? null) === null ? "default" : "config",
    },
    ...(config?.redact ?? []).map((value) => ({ key: "redact", value, from: "config" })),
    ...Object.entries(config?.providers ?? {}).flatMap(([name, entry]) =>
      providerOrigins(name, entry, env),
    ),
    ...Object.entries(config?.models ?? {}).map(([name, value]) => ({
      key: `models.${name}`,
      value,
      from: "config",
    })),
  ];
}

/** Without the values of headers, which may be secret. */
function providerOrigins(
  name: string,
  { api, baseUrl, key, headers }: ProviderEntry,
  env: Env,
): SettingOrigin[] {
  const data = builtInProvider(name);
  const address = (data?.addressVariables ?? []).find((each) => isSet(env, each) !== null) ?? null;
  const ownKey = baseUrl === null ? isSet(env, data?.keyVariable ?? undefined) : null;
  const origin = (member: string, value: unknown, variable: string | null): SettingOrigin[] =>
    value === null
      ? []
      : [
          {
            key: `providers.${name}.${member}`,
            value,
            from: variable === null ? "config" : `config, but ${variable} is used`,
          },
        ];
  return [
    ...origin("api", api, null),
    ...origin("base_url", baseUrl === null ? null : hostOf(baseUrl), address),
    ...(key === null ? [] : origin(...keyOrigin(key), ownKey)),
    ...origin("headers", Object.keys(headers).length === 0 ? null : Object.keys(headers), null),
  ];
}

/** Without arguments and values of variables and headers, which may be secret. */
function serverOrigins(name: string, entry: McpEntry, from: string): SettingOrigin[] {
  const { place, client, tools, timeoutMs, isEnabled } = entry;
  const values: Readonly<Record<string, unknown>> = {
    ...(place?.kind === "program" ? { command: place.command } : {}),
    ...(place?.kind === "program" ? { env: namesOf(place.env) } : {}),
    ...(place?.kind === "address" ? { url: hostOf(place.url) } : {}),
    ...(place?.kind === "address" ? { headers: namesOf(place.headers) } : {}),
    "oauth.client_id": client?.id ?? null,
    "oauth.callback_port": client?.port ?? null,
    tools,
    timeout_ms: place === null ? null : timeoutMs,
    enabled: isEnabled,
  };
  return Object.entries(values).flatMap(([member, value]) =>
    value === null ? [] : [{ key: `mcp.${name}.${member}`, value, from }],
  );
}

function namesOf(values: Readonly<Record<string, string>>): readonly string[] | null {
  const names = Object.keys(values);
  return names.length === 0 ? null : names;
}

function keyOrigin(key: KeySource): [member: string, value: string] {
  if ("variable" in key) {
    return ["key_env", key.variable];
  }
  return "file" in key ? ["key_file", key.file] : ["key_command", "(a command)"];
}

/** The rest of an address may hold a secret. */
function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : "(no address)";
}

function rulesOf({ rules }: ConfigSection, effect: Effect): readonly string[] {
  return rules.filter((rule) => rule.effect === effect).map(ruleText);
}

function lists(
  { sections }: FolderSettings,
  key: string,
  of: (section: ConfigSection) => readonly string[],
): SettingOrigin[] {
  return sections.flatMap(({ name, section }) => {
    const value = of(section);
    return value.length === 0 ? [] : { key, value, from: name };
  });
}

function isSet(env: Env, variable: string | undefined): string | null {
  return variable !== undefined && (env[variable] ?? "").trim() !== "" ? variable : null;
}

function originOf(
  { sections }: FolderSettings,
  of: (section: ConfigSection) => unknown,
  variable: string | null,
): string {
  return variable ?? sections.findLast(({ section }) => of(section) !== null)?.name ?? "default";
}

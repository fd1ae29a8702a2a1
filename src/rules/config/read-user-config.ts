import type { ScopedLimits } from "../../core/cost/limits.ts";
import { microsOf } from "../../core/cost/money.ts";
import { join } from "node:path";

import { findNodeAtLocation, type Node } from "jsonc-parser";

import type { ExchangeLimits } from "../../core/exchange-limits.ts";
import {
  type Effect,
  EFFECTS,
  parseCallPattern,
  parsePattern,
  type Rule,
} from "../permissions/rule.ts";
import { hooksOf } from "../hooks/hook.ts";
import type { KeySource, ProviderEntry } from "../models/provider-config.ts";
import { builtInProvider } from "../models/providers.ts";
import { BUILT_IN_TOOLS } from "../tools/built-in.ts";
import { mcpEntries, reportUselessServers } from "./read-mcp.ts";
import { isPath, readAs, type Report } from "./read-value.ts";
import { ConfigForm, type ConfigText, type ProviderText, type SectionText } from "./schema.ts";
import {
  type ConfigSection,
  LIMIT_KEYS,
  type ProtectedPath,
  SANDBOX_KEYS,
  type SandboxMaxima,
  type UserConfig,
} from "./user-config.ts";

/** Reads the whole file. `home` is for paths that begin with `~/`. */
export function readUserConfig(root: Node, report: Report, home: string): UserConfig {
  const text: ConfigText = readAs(root, ConfigForm, report);
  const { providers = {}, models = {}, folders = {} } = text;
  reportUnknownProviders(root, text, report);
  reportUselessServers(root, text, report);
  return {
    ...sectionOf(text, home),
    theme: text.theme ?? null,
    notifications: text.notifications ?? null,
    search: text.search ?? null,
    redact: text.redact ?? [],
    providers: Object.fromEntries(
      Object.entries(providers).map(([name, provider]) => [name, providerOf(provider, home)]),
    ),
    models,
    folders: Object.entries(folders).map(([written, section]) => ({
      written,
      folder: absolutePath(written, home),
      section: sectionOf(section, home),
    })),
  };
}

function providerOf(text: ProviderText, home: string): ProviderEntry {
  return {
    api: text.api ?? null,
    baseUrl: text.base_url ?? null,
    key: keySourceOf(text, home),
    headers: text.headers ?? {},
  };
}

function keySourceOf(
  { key_env, key_file, key_command }: ProviderText,
  home: string,
): KeySource | null {
  if (key_env !== undefined) {
    return { variable: key_env };
  }
  if (key_file !== undefined) {
    return { file: absolutePath(key_file, home) };
  }
  return key_command === undefined ? null : { command: key_command };
}

/** Finds providers that are not built in and have no address, and models of providers that are nowhere. */
function reportUnknownProviders(root: Node, text: ConfigText, report: Report): void {
  const { providers = {}, models = {}, folders = {} } = text;
  const at = (path: readonly (string | number)[], message: string): void => {
    const node = findNodeAtLocation(root, [...path]);
    if (node !== undefined) {
      report(node, message);
    }
  };
  for (const [name, { base_url }] of Object.entries(providers)) {
    if (builtInProvider(name) === undefined && base_url === undefined) {
      at(["providers", name], "This provider is not built in, so it needs a base_url.");
    }
  }
  const named: readonly (readonly [
    path: readonly (string | number)[],
    model: string | undefined,
  ])[] = [
    [["model"], text.model],
    ...Object.entries(folders).map(
      ([folder, { model }]) => [["folders", folder, "model"], model] as const,
    ),
    ...fallbackNames([], text),
    ...Object.entries(folders).flatMap(([folder, section]) =>
      fallbackNames(["folders", folder], section),
    ),
    ...Object.keys(models).map((name) => [["models", name], name] as const),
  ];
  for (const [path, model = "demo"] of named) {
    const provider = model.split(":", 1)[0] ?? "";
    if (builtInProvider(provider) === undefined && !Object.hasOwn(providers, provider)) {
      at(path, "There is no provider of this name; define it in `providers`.");
    }
  }
}

function fallbackNames(path: readonly string[], { fallback = [] }: SectionText) {
  return fallback.map((name, at) => [[...path, "fallback", at], name] as const);
}

function sectionOf(text: SectionText, home: string): ConfigSection {
  const { permission = {}, limits = {}, sandbox = {} } = text;
  return {
    model: text.model ?? null,
    effort: text.effort ?? null,
    cache: text.cache ?? null,
    fallback: text.fallback ?? null,
    whenLimited: text.when_limited ?? null,
    persona: text.persona ?? null,
    mode: permission.mode ?? null,
    rules: EFFECTS.flatMap((effect) => rulesOf(permission, effect)),
    protected: (text.protected ?? []).map((entry): ProtectedPath =>
      isPath(entry) ? { path: absolutePath(entry, home) } : { pattern: parsePattern(entry) },
    ),
    limits: limitsOf(limits),
    tokens: limits.tokens ?? {},
    prices: pricesOf(limits.price ?? {}),
    environment: text.environment ?? [],
    sandbox: sandboxOf(sandbox.limits),
    visible: (sandbox.visible ?? []).map((path) => path.slice("~/".length).replace(/\/$/, "")),
    hooks: hooksOf(text.hooks),
    mcp: mcpEntries(text.mcp),
  };
}

/** The file has dollars. */
function pricesOf(limits: ScopedLimits): ScopedLimits {
  return Object.fromEntries(
    Object.entries(limits).map(([scope, dollars]) => [scope, microsOf(dollars)]),
  );
}

/** The rules of an effect, as a section has them. */
export function rulesOf(
  permission: Readonly<Partial<Record<Effect, readonly string[] | undefined>>>,
  effect: Effect,
): readonly Rule[] {
  return (permission[effect] ?? []).map((text) => ({
    effect,
    ...parseCallPattern(text, BUILT_IN_TOOLS),
  }));
}

export function limitsOf(
  limits: Readonly<Partial<Record<keyof typeof LIMIT_KEYS, number>>>,
): Partial<ExchangeLimits> {
  const { children_at_once, children, model_calls } = LIMIT_KEYS;
  const named = [
    [children_at_once, limits.children_at_once],
    [children, limits.children],
    [model_calls, limits.model_calls],
  ] as const;
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}

export function sandboxOf(
  limits: Readonly<Partial<Record<keyof typeof SANDBOX_KEYS, number>>> = {},
): SandboxMaxima {
  const { processes, memory_mib, file_mib } = SANDBOX_KEYS;
  const named = [
    [processes, limits.processes],
    [memory_mib, limits.memory_mib],
    [file_mib, limits.file_mib],
  ] as const;
  return Object.fromEntries(
    named.flatMap(([{ limit, unit }, value]) =>
      value === undefined ? [] : [[limit, value * unit]],
    ),
  );
}

function absolutePath(text: string, home: string): string {
  return text.startsWith("~") ? join(home, text.slice(1)) : text;
}

import { join } from "node:path";

import type { Node } from "jsonc-parser";

import type { ExchangeLimits } from "../../core/exchange-limits.ts";
import {
  type Effect,
  EFFECTS,
  parseCallPattern,
  parsePattern,
  type Rule,
} from "../permissions/rule.ts";
import { BUILT_IN_TOOLS } from "../tools/built-in.ts";
import { isPath, readAs, type Report } from "./read-value.ts";
import { ConfigForm, type ConfigText, type SectionText } from "./schema.ts";
import {
  type ConfigSection,
  KEYED_PROVIDERS,
  type KeySource,
  LIMIT_KEYS,
  type ProtectedPath,
  SANDBOX_KEYS,
  type SandboxMaxima,
  type UserConfig,
} from "./user-config.ts";

/** Reads the whole file. `home` is for paths that begin with `~/`. */
export function readUserConfig(root: Node, report: Report, home: string): UserConfig {
  const text: ConfigText = readAs(root, ConfigForm, report);
  const { providers = {}, folders = {} } = text;
  return {
    ...sectionOf(text, home),
    theme: text.theme ?? null,
    notifications: text.notifications ?? null,
    keys: Object.fromEntries(
      KEYED_PROVIDERS.flatMap((name) => {
        const source = keySourceOf(providers[name] ?? {}, home);
        return source === null ? [] : [[name, source]];
      }),
    ),
    folders: Object.entries(folders).map(([written, section]) => ({
      written,
      folder: absolutePath(written, home),
      section: sectionOf(section, home),
    })),
  };
}

type ProviderText = NonNullable<NonNullable<ConfigText["providers"]>["openai"]>;

function keySourceOf({ key_file, key_command }: ProviderText, home: string): KeySource | null {
  if (key_file !== undefined) {
    return { file: absolutePath(key_file, home) };
  }
  return key_command === undefined ? null : { command: key_command };
}

function sectionOf(text: SectionText, home: string): ConfigSection {
  const { permission = {}, limits = {}, sandbox = {} } = text;
  return {
    model: text.model ?? null,
    persona: text.persona ?? null,
    mode: permission.mode ?? null,
    rules: EFFECTS.flatMap((effect) => rulesOf(permission, effect)),
    protected: (text.protected ?? []).map((entry): ProtectedPath =>
      isPath(entry) ? { path: absolutePath(entry, home) } : { pattern: parsePattern(entry) },
    ),
    limits: limitsOf(limits),
    tokens: limits.tokens ?? {},
    environment: text.environment ?? [],
    sandbox: sandboxOf(sandbox.limits),
    visible: (sandbox.visible ?? []).map((path) => path.slice("~/".length).replace(/\/$/, "")),
  };
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

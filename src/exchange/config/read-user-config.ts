import { isAbsolute, join } from "node:path";

import type { Node } from "jsonc-parser";

import { PERMISSION_MODES } from "../../core/permissions.ts";
import { TOKEN_LIMITS, type TokenLimits } from "../../core/token-limits.ts";
import type { ExchangeLimits } from "../../core/exchange-limits.ts";
import { parseModelName } from "../models/name.ts";
import {
  type Effect,
  EFFECTS,
  parseCallPattern,
  parsePattern,
  type Rule,
} from "../permissions/rule.ts";
import { BUILT_IN_TOOLS } from "../tools/built-in.ts";
import {
  listReader,
  type Member,
  membersOf,
  readCount,
  type Reader,
  readMember,
  type Report,
  textReader,
  wordReader,
} from "./readers.ts";
import {
  type ConfigSection,
  KEYED_PROVIDERS,
  LIMIT_KEYS,
  NOTIFICATIONS,
  type ProtectedPath,
  SANDBOX_KEYS,
  type SandboxMaxima,
  THEMES,
  type UserConfig,
} from "./user-config.ts";

/** 1 TiB, as memory and files have MiB. */
const MAX_SANDBOX = 1024 * 1024;

const SECTION_KEYS = [
  "model",
  "persona",
  "permission",
  "protected",
  "limits",
  "environment",
  "sandbox",
] as const;
const TOP_KEYS = [
  "$schema",
  ...SECTION_KEYS,
  "theme",
  "notifications",
  "providers",
  "folders",
] as const;

/** Reads the whole file. `home` is for paths that begin with `~/`. */
export function readUserConfig(root: Node, report: Report, home: string): UserConfig {
  const members = membersOf(root, report, TOP_KEYS);
  readMember(members, "$schema", textReader(String), report);
  const folders = members.get("folders")?.value;
  return {
    ...sectionOf(members, report, home),
    theme: readMember(members, "theme", wordReader(THEMES), report),
    notifications: readMember(members, "notifications", wordReader(NOTIFICATIONS), report),
    keys: keysAt(objectAt(members, "providers", report, KEYED_PROVIDERS), report, home),
    folders:
      folders === undefined
        ? []
        : [...membersOf(folders, report, null).entries()].flatMap(([written, { key, value }]) => {
            const folder = absolutePath(written, home);
            if (folder === null) {
              report(key, "A folder is an absolute path, or one that begins with ~/.");
              return [];
            }
            const section = sectionOf(membersOf(value, report, SECTION_KEYS), report, home);
            return [{ written, folder, section }];
          }),
  };
}

function keysAt(providers: Members, report: Report, home: string): UserConfig["keys"] {
  return Object.fromEntries(
    KEYED_PROVIDERS.flatMap((name) => {
      const provider = objectAt(providers, name, report, ["key_file", "key_command"]);
      const file = readMember(provider, "key_file", fileReader(home), report);
      const command = readMember(provider, "key_command", listReader(textReader(String)), report);
      const source = file === null ? (command === null ? null : { command }) : { file };
      const key = provider.get("key_command")?.key;
      if (key !== undefined && (provider.size > 1 || command?.length === 0)) {
        report(key, "Give either key_file or a key_command that is not empty.");
      }
      return source === null ? [] : [[name, source]];
    }),
  );
}

function fileReader(home: string): Reader<string> {
  return (node, report) => {
    const path = textReader((text) => ({ found: absolutePath(text, home) }))(node, report);
    if (path !== null && path.found === null) {
      report(node, "This must be an absolute path, or one that begins with ~/.");
    }
    return path?.found ?? null;
  };
}

type Members = ReadonlyMap<string, Member>;

function sectionOf(members: Members, report: Report, home: string): ConfigSection {
  const permission = objectAt(members, "permission", report, ["mode", ...EFFECTS]);
  const limits = objectAt(members, "limits", report, [...Object.keys(LIMIT_KEYS), "tokens"]);
  const sandbox = objectAt(members, "sandbox", report, ["limits", "visible"]);
  return {
    model: readMember(members, "model", textReader(modelName), report),
    persona: readMember(members, "persona", textReader(String), report),
    mode: readMember(permission, "mode", wordReader(PERMISSION_MODES), report),
    rules: EFFECTS.flatMap((effect) => rulesAt(permission, effect, report)),
    protected: readMember(members, "protected", listReader(protectedReader(home)), report) ?? [],
    limits: limitsAt(limits, report),
    tokens: tokensAt(limits, report),
    environment: readMember(members, "environment", listReader(variable), report) ?? [],
    sandbox: sandboxLimitsAt(sandbox, report),
    visible: readMember(sandbox, "visible", listReader(belowHome), report) ?? [],
  };
}

/** The members of an object that is a member itself; none if it is not there. */
export function objectAt(
  members: Members,
  name: string,
  report: Report,
  known: readonly string[],
): Members {
  const value = members.get(name)?.value;
  return value === undefined ? new Map() : membersOf(value, report, known);
}

export function rulesAt(permission: Members, effect: Effect, report: Report): readonly Rule[] {
  const rule: Reader<Rule> = textReader((text) => ({
    effect,
    ...parseCallPattern(text, BUILT_IN_TOOLS),
  }));
  return readMember(permission, effect, listReader(rule), report) ?? [];
}

export function limitsAt(limits: Members, report: Report): Partial<ExchangeLimits> {
  return Object.fromEntries(
    Object.entries(LIMIT_KEYS).flatMap(([key, name]) => {
      const value = readMember(limits, key, readCount, report);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** `limits` of the member `sandbox` of a section. */
export function sandboxLimitsAt(sandbox: Members, report: Report): SandboxMaxima {
  const limits = objectAt(sandbox, "limits", report, Object.keys(SANDBOX_KEYS));
  return Object.fromEntries(
    Object.entries(SANDBOX_KEYS).flatMap(([key, { limit, unit }]) => {
      const value = readMember(limits, key, sandboxCount, report);
      return value === null ? [] : [[limit, value * unit]];
    }),
  );
}

const sandboxCount: Reader<number> = (node, report) => {
  const count = readCount(node, report);
  if (count !== null && count > MAX_SANDBOX) {
    report(node, "This must be 1,048,576 or less.");
    return null;
  }
  return count;
};

function tokensAt(limits: Members, report: Report): TokenLimits {
  const tokens = objectAt(limits, "tokens", report, TOKEN_LIMITS);
  return Object.fromEntries(
    TOKEN_LIMITS.flatMap((name) => {
      const value = readMember(tokens, name, readCount, report);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** No part of such a path leads back. */
const BELOW_HOME = /^~((?:\/(?!\.{1,2}(?:\/|$))[^/]+)+)\/?$/;

const belowHome: Reader<string> = (node, report) => {
  const path = textReader(String)(node, report);
  const name = path === null ? null : BELOW_HOME.exec(path)?.[1];
  if (name === undefined) {
    report(
      node,
      "This must be a path below your home folder, such as ~/.config/tool, without . and ..",
    );
  }
  return name?.slice(1) ?? null;
};

const variable: Reader<string> = (node, report) => {
  const name = textReader(String)(node, report);
  if (name !== null && !/^[A-Za-z_]\w{0,255}$/.test(name)) {
    report(node, "This must be the exact name of a variable, such as JAVA_HOME.");
    return null;
  }
  return name;
};

function modelName(text: string): string {
  parseModelName(text);
  return text;
}

/** An absolute path, or a pattern below the session's folder. */
function protectedReader(home: string): Reader<ProtectedPath> {
  return textReader((text) => {
    const path = absolutePath(text, home);
    return path === null ? { pattern: parsePattern(text) } : { path };
  });
}

/** Null for another path. */
function absolutePath(text: string, home: string): string | null {
  if (text === "~" || text.startsWith("~/")) {
    return join(home, text.slice(1));
  }
  return isAbsolute(text) ? text : null;
}

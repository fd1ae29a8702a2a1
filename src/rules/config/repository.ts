import { join } from "node:path";

import type { ExchangeLimits } from "../../core/exchange-limits.ts";
import { hooksDigest } from "../hooks/digest.ts";
import type { Hook } from "../hooks/hook.ts";
import type { Layer } from "../permissions/layers.ts";
import { readStart, type Unusable } from "../personas/text-file.ts";
import { SANDBOX_LIMITS, type SandboxLimits } from "../../workspace/sandbox/policy.ts";
import { isSeen, isTrusted, type TrustSource } from "../trust/trust.ts";
import type { PlacedProblem } from "./load-config.ts";
import { MAX_CONFIG_BYTES } from "./read-text.ts";
import type { ProtectedPath, SandboxMaxima } from "./user-config.ts";

/** Its path in the folder of a session. */
export const REPOSITORY_CONFIG = ".reprise/config.jsonc";

/** Settings of a folder for its sessions: but for its hooks, they only make things stricter. */
export interface RepositoryConfig {
  /** Rules that ask and deny. */
  readonly layers: readonly Layer[];
  readonly protected: readonly ProtectedPath[];
  readonly limits: Partial<ExchangeLimits>;
  /** Limits of commands in the sandbox. */
  readonly sandbox: SandboxMaxima;
  /** Commands of the folder, if the user has seen exactly these. They run in the sandbox alone. */
  readonly hooks: readonly Hook[];
  /** Parts of the file that are not used, each a sentence for a person. */
  readonly problems: readonly string[];
}

const NONE: RepositoryConfig = {
  layers: [],
  protected: [],
  limits: {},
  sandbox: {},
  hooks: [],
  problems: [],
};

const WHY: Readonly<Record<Exclude<Unusable, "missing">, string>> = {
  not_a_file: "is not a file",
  outside: "leads out of the folder",
  unreadable: "cannot be read",
};

/**
 * Reads the config of a folder, if the user trusts the folder. What cannot be used in it is left out, so that a
 * file of somebody else can stop nobody's session; the rest of it counts. Never throws.
 */
export async function repositoryConfig(
  folder: string | null,
  trust: TrustSource,
): Promise<RepositoryConfig> {
  if (folder === null) {
    return NONE;
  }
  const text = await readRepositoryText(folder);
  if (text === "missing" || !(await isTrusted(trust, folder))) {
    return NONE;
  }
  if ("unusable" in text) {
    return { ...NONE, problems: [`${REPOSITORY_CONFIG} ${text.unusable}, so it is not used.`] };
  }
  const { readRepositoryConfig } = await import("./repository-text.ts");
  const { rules, problems, hooks, ...found } = readRepositoryConfig(text.content);
  const why = await whyNot(hooks, folder, trust);
  return {
    ...found,
    layers: rules.length === 0 ? [] : [{ name: "repository", rules }],
    hooks: why === null ? hooks : [],
    problems: [...(why === null ? [] : [why]), ...problems.slice(0, MAX_SHOWN).map(sentenceOf)],
  };
}

/** Null for hooks that may run. */
async function whyNot(
  hooks: readonly Hook[],
  folder: string,
  trust: TrustSource,
): Promise<string | null> {
  if (!canBeRead(hooks)) {
    return TOO_LONG;
  }
  const isFree = hooks.length === 0 || (await isSeen(trust, folder, hooksDigest(hooks)));
  return isFree ? null : UNSEEN;
}

/** Characters of all commands of a file: a person reads all of them before one may run. */
const MAX_COMMANDS = 32 * 1024;

function canBeRead(hooks: readonly Hook[]): boolean {
  return hooks.reduce((sum, { command }) => sum + command.length, 0) <= MAX_COMMANDS;
}

const TOO_LONG = `${REPOSITORY_CONFIG} has hooks of more than 32 KiB, which is more than a person can read, so none of them runs. Put their commands into files.`;

const UNSEEN = `${REPOSITORY_CONFIG} has hooks that you have not seen, so none of them runs. \`reprise trust add\` shows them and lets them run.`;

/** Reads the hooks of a folder for a person who decides about them: nothing of them acts. Never throws. */
export async function repositoryHooks(folder: string): Promise<readonly Hook[]> {
  const text = await readRepositoryText(folder);
  if (text === "missing" || "unusable" in text) {
    return [];
  }
  const { readRepositoryConfig } = await import("./repository-text.ts");
  const { hooks } = readRepositoryConfig(text.content);
  return canBeRead(hooks) ? hooks : [];
}

async function readRepositoryText(
  folder: string,
): Promise<"missing" | { readonly unusable: string } | { readonly content: string }> {
  const path = join(folder, REPOSITORY_CONFIG);
  const start = await readStart({ path, within: folder, maxBytes: MAX_CONFIG_BYTES });
  if (start === "missing") {
    return "missing";
  }
  if (typeof start === "string" || start.cut) {
    return { unusable: typeof start === "string" ? WHY[start] : "is larger than 256 KiB" };
  }
  // bytes that are not UTF-8 are in a text or a key, which then is another one
  return { content: start.bytes.toString("utf8").replace(/^\u{FEFF}/u, "") };
}

/** A file of somebody else must not fill the screen. */
const MAX_SHOWN = 5;

function sentenceOf({ line, column, message }: PlacedProblem): string {
  return `${REPOSITORY_CONFIG}:${line}:${column} is not used. ${message}`;
}

/** The lower one of each limit. */
export function lowered(
  limits: ExchangeLimits,
  { childrenAtOnce, children, modelCalls }: Partial<ExchangeLimits>,
): ExchangeLimits {
  return {
    childrenAtOnce: Math.min(limits.childrenAtOnce, childrenAtOnce ?? Infinity),
    children: Math.min(limits.children, children ?? Infinity),
    modelCalls: Math.min(limits.modelCalls, modelCalls ?? Infinity),
  };
}

/** The limits of commands in the sandbox: those of the user, lowered by those of the folder. */
export function loweredSandbox(user: SandboxMaxima, folder: SandboxMaxima): SandboxLimits {
  const limits = { ...SANDBOX_LIMITS, ...user };
  const { processes = Infinity, memory = Infinity, file = Infinity } = folder;
  return {
    ...limits,
    processes: Math.min(limits.processes, processes),
    memory: Math.min(limits.memory, memory),
    file: Math.min(limits.file, file),
  };
}

import { join, resolve } from "node:path";

import { secretsOfEndpoint } from "../../../core/secrets.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { hasKey, type ModelConfig } from "../../../rules/models/config.ts";
import type { Offered } from "../../../rules/models/offered.ts";
import { builtInProvider } from "../../../rules/models/providers.ts";
import { configPlace } from "../../process/config.ts";
import { type CliContext, note } from "../../process/context.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { type Candidate, type GivenKey, withCandidate } from "./candidate.ts";
import type { Dialog } from "./dialog.ts";
import {
  askAddress,
  askKey,
  askModel,
  isAddress,
  isKeyless,
  providerNames,
  standardModel,
} from "./questions.ts";

/** Facts that options give. */
export interface GivenFacts {
  readonly provider?: string;
  readonly model?: string;
  readonly keyFile?: string;
  readonly keyCommand?: string;
  readonly keyEnv?: string;
  readonly baseUrl?: string;
}

/** Error codes: `invalid_usage` for one that is nowhere. */
export function knownProvider(name: string, models: ModelConfig): string {
  const names = providerNames(models);
  if (!names.includes(name)) {
    throw wrongUsage(
      `There is no provider of this name. The providers are ${names.join(", ")}; \`providers\` of the config adds others.`,
    );
  }
  return name;
}

interface Step {
  readonly provider: string;
  readonly options: GivenFacts;
  readonly models: ModelConfig;
}

/** Null if the address is unchanged. One that the environment gives is kept: what is tested there may not be true elsewhere. */
export async function addressFor(
  dialog: Dialog,
  { provider, options, models, kept }: Step & { readonly kept: string | null },
): Promise<string | null> {
  const { baseUrl } = options;
  const set = models.providers[provider]?.baseUrl ?? null;
  // a secret does not belong into a config
  const isOpen = secretsOfEndpoint("", set).length === 0;
  const unchanged = set !== kept && isOpen ? set : null;
  if (baseUrl !== undefined) {
    if (!isAddress(baseUrl)) {
      throw wrongUsage(
        "--base-url takes an address with its scheme, like http://127.0.0.1:8080/v1.",
      );
    }
    return baseUrl;
  }
  const now = set ?? builtInProvider(provider)?.address ?? null;
  if (now !== null && !isKeyless(provider)) {
    return unchanged;
  }
  if (!dialog.mayAsk) {
    if (now === null) {
      throw wrongUsage("This provider has another address for each account. Give --base-url.");
    }
    return unchanged;
  }
  const example = now ?? "https://NAME.openai.azure.com/openai/v1/";
  return (await askAddress(dialog, { example, now })) ?? unchanged;
}

/** Null if the environment or the config has it, or none is needed. */
export async function keyFor(
  cli: CliContext,
  dialog: Dialog,
  { candidate, options, models }: Omit<Step, "provider"> & { readonly candidate: Candidate },
): Promise<GivenKey | null> {
  const given = givenKey(cli, options);
  if (given !== null) {
    return given;
  }
  const { provider, baseUrl } = candidate;
  const now = models.providers[provider];
  const holder = now !== undefined && hasKey(now) ? now.keyFrom : null;
  const variable = builtInProvider(provider)?.keyVariable ?? null;
  // beside an address of the config, a variable counts only if the config names it
  const held =
    baseUrl !== null && baseUrl === now?.baseUrl && variable !== null && holder === variable
      ? { variable }
      : null;
  if (isKeyless(provider) || (holder !== null && !dialog.mayAsk)) {
    return held;
  }
  if (!dialog.mayAsk) {
    throw wrongUsage(
      "The key is missing. Give --key-file <path>, --key-command <line> or --key-env <name>.",
    );
  }
  return (await askKey(dialog, provider, holder)) ?? held;
}

function givenKey(cli: CliContext, { keyFile, keyCommand, keyEnv }: GivenFacts): GivenKey | null {
  const given = [keyFile, keyCommand, keyEnv].filter((each) => each !== undefined);
  if (given.length > 1) {
    throw wrongUsage("Give one of --key-file, --key-command and --key-env, not several.");
  }
  if (keyFile !== undefined) {
    const { home } = configPlace(cli);
    return {
      file: keyFile.startsWith("~/") ? join(home, keyFile.slice(2)) : resolve(cli.cwd, keyFile),
    };
  }
  if (keyCommand !== undefined) {
    const command = wordsOf(keyCommand);
    if (command.length === 0) {
      throw wrongUsage("--key-command takes a command, such as 'pass show openai'.");
    }
    return { command };
  }
  if (keyEnv !== undefined && (cli.env[keyEnv]?.trim() ?? "") === "") {
    throw wrongUsage(
      "The variable of --key-env is not set. Set it to the key, or give another name.",
    );
  }
  return keyEnv === undefined ? null : { variable: keyEnv };
}

/** Words between spaces: it is run without a shell. */
function wordsOf(line: string): string[] {
  return line.split(/\s+/).filter((word) => word !== "");
}

/** As `provider:model`; the provider is asked for its list unless `asksList` is false. */
export async function modelFor(
  cli: CliContext,
  dialog: Dialog,
  input: {
    readonly candidate: Candidate;
    readonly given: string | undefined;
    readonly asksList: boolean;
  },
): Promise<string> {
  const { candidate, given, asksList } = input;
  const { provider } = candidate;
  const prefix = `${provider}:`;
  const whole = (model: string): string => (model.startsWith(prefix) ? model : prefix + model);
  if (given !== undefined && given.trim() !== "") {
    return whole(given.trim());
  }
  const { config } = await withCandidate(cli, candidate, { readsKey: asksList });
  const offered = asksList ? await listOf(provider, config) : { models: [], notes: [] };
  for (const sentence of dialog.mayAsk ? offered.notes : []) {
    note(cli, oneLine(sentence));
  }
  const isElsewhere = (config.providers[provider]?.baseUrl ?? null) !== null;
  // the table has nothing of another server
  const listed = isElsewhere && offered.notes.length > 0 ? [] : offered.models;
  const names = listed.map(({ name }) => name.slice(prefix.length));
  const standard = standardModel(provider, { models: names, isElsewhere, config });
  if (dialog.mayAsk) {
    return whole(await askModel(dialog, names, standard));
  }
  if (standard === null) {
    throw wrongUsage("The model is missing, and the provider names none. Give --model <name>.");
  }
  return whole(standard);
}

async function listOf(provider: string, config: ModelConfig): Promise<Offered> {
  const { offeredModels } = await import("../../../rules/models/offered.ts");
  return offeredModels({ config, providers: [provider], file: null, refresh: true });
}

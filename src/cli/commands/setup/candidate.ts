import type { Secret } from "../../../core/secrets.ts";
import type { UserConfig } from "../../../rules/config/user-config.ts";
import type { ModelConfig } from "../../../rules/models/config.ts";
import type { KeySource, ProviderEntry } from "../../../rules/models/provider-config.ts";
import { builtInProvider } from "../../../rules/models/providers.ts";
import { settingsOf } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";

/** A key as a person gives it: typed, or the place that holds it. */
export type GivenKey = { readonly typed: string } | KeySource;

/** A provider as it would be kept. */
export interface Candidate {
  readonly provider: string;
  /** Null if the config or the environment has it already, and if there is none. */
  readonly key: GivenKey | null;
  /** Null if it is unchanged. */
  readonly baseUrl: string | null;
}

/** The settings with a candidate in them, and its key. */
export interface Tried {
  readonly config: ModelConfig;
  readonly secrets: readonly Secret[];
}

/**
 * The settings as they would be once the candidate is kept, without variables that count before it. Reads its key.
 *
 * Error codes: `config_invalid`.
 */
export async function withCandidate(
  cli: CliContext,
  candidate: Candidate,
  { readsKey }: { readonly readsKey: boolean },
): Promise<Tried> {
  const { provider, key } = candidate;
  const [{ providersOf }, { withKey }] = await Promise.all([
    import("../../../rules/models/provider-config.ts"),
    import("../../../rules/models/config.ts"),
  ]);
  const settings = settingsOf(cli);
  const found = await settings.config();
  const { models } = await settings.at(null);
  const hidden = Object.fromEntries(
    strongerVariables(cli, candidate, found).map((name) => [name, undefined]),
  );
  const env = { ...cli.env, ...hidden };
  const entries = { ...found?.providers, [provider]: entryOf(candidate, found) };
  const one = providersOf(env, entries)[provider];
  const given = key === null ? undefined : await givenKey(cli, candidate, readsKey);
  const readKey = models.providers[provider]?.readKey;
  const tried = one && {
    ...one,
    apiKey: given ?? one.apiKey,
    ...(key === null && one.apiKey === null && readKey !== undefined ? { readKey } : {}),
  };
  const changed = tried === undefined ? {} : { [provider]: tried };
  const config = { ...models, providers: { ...models.providers, ...changed } };
  const keyed = readsKey ? await withKey(config, provider) : config;
  const value = keyed.providers[provider]?.apiKey ?? "";
  return { config: keyed, secrets: [{ name: "key", value }, ...(one?.secrets ?? [])] };
}

/** Variables that are set and count before what would be kept. */
export function strongerVariables(
  { env }: CliContext,
  { provider, key, baseUrl }: Candidate,
  found: UserConfig | null,
): readonly string[] {
  const data = builtInProvider(provider);
  const address = baseUrl ?? found?.providers[provider]?.baseUrl ?? null;
  const named = key !== null && "variable" in key ? key.variable : null;
  const ofKey = key === null ? [] : [data?.keyVariable ?? named].filter((name) => name !== named);
  const ofAddress = address === null ? [] : (data?.addressVariables ?? []);
  return [...ofKey, ...ofAddress].flatMap((name) =>
    name !== null && (env[name]?.trim() ?? "") !== "" ? [name] : [],
  );
}

function entryOf({ provider, key, baseUrl }: Candidate, found: UserConfig | null): ProviderEntry {
  const before = found?.providers[provider];
  return {
    api: before?.api ?? null,
    baseUrl: baseUrl ?? before?.baseUrl ?? null,
    key: key === null ? (before?.key ?? null) : "typed" in key ? null : key,
    headers: before?.headers ?? {},
  };
}

/** A command is run only if its key is needed. Error codes: `invalid_usage`. */
async function givenKey(
  cli: CliContext,
  { key }: Candidate,
  readsKey: boolean,
): Promise<string | undefined> {
  if (key === null || "variable" in key) {
    return undefined;
  }
  if ("typed" in key) {
    return key.typed;
  }
  if ("command" in key && !readsKey) {
    return undefined;
  }
  const { createKeyReader } = await import("../../../rules/config/keys.ts");
  const place = "file" in key ? "--key-file" : "--key-command";
  return createKeyReader(key, { place, code: "invalid_usage", env: cli.env })();
}

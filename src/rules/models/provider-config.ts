import { isSecretName, type Secret, secretsOfEndpoint } from "../../core/secrets.ts";
import { type Api, builtInProvider, PROVIDERS, type ProviderData } from "./providers.ts";

/** What the user's config says of a provider. An address and a key that are there together belong together. */
export interface ProviderEntry {
  readonly api: Api | null;
  readonly baseUrl: string | null;
  readonly key: KeySource | null;
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Where a key is: in a variable, in a file, or what a command prints. */
export type KeySource =
  | { readonly variable: string }
  | { readonly file: string }
  | { readonly command: readonly string[] };

/** A provider with what the environment and the config say of it. */
export interface ProviderConfig {
  readonly api: Api;
  /** The address that somebody set; null if it is the provider's own. */
  readonly baseUrl: string | null;
  /** What set it, for a sentence to a person. */
  readonly addressFrom: string;
  /** Null if none is known. */
  readonly apiKey: string | null;
  /** What holds the key, or would, for a sentence to a person. */
  readonly keyFrom: string;
  /** Reads the key, if there is one that is not known yet. Error codes: `config_invalid`. */
  readonly readKey?: () => Promise<string>;
  /** A key in a file or of a command that may be read for it; null if there is none. */
  readonly keySource: KeySource | null;
  readonly headers: Readonly<Record<string, string>>;
  /** What of it is secret, also if it is not used here. */
  readonly secrets: readonly Secret[];
}

type Env = Readonly<Record<string, string | undefined>>;

/** Returns the providers that come with Reprise, and those of the config. Reads no file and runs no command. */
export function providersOf(
  env: Env,
  entries: Readonly<Record<string, ProviderEntry>>,
): Readonly<Record<string, ProviderConfig>> {
  const names = new Set([...Object.keys(PROVIDERS), ...Object.keys(entries)]);
  return Object.fromEntries([...names].map((name) => [name, providerOf(name, env, entries[name])]));
}

/**
 * One provider. A key goes to no other host than it was given for: that of the environment to the address of the
 * environment or else the provider's own, that of an entry with an address to the origin of this address only.
 */
function providerOf(name: string, env: Env, entry: ProviderEntry | undefined): ProviderConfig {
  const data = builtInProvider(name);
  const address = addressOf(data, env);
  const entryUrl = entry?.baseUrl ?? null;
  const isOfEntry = address === null && entryUrl !== null;
  const mayUseEntry = isOfEntry || entryUrl === null || isSameOrigin(address?.url, entryUrl);
  const source = mayUseEntry ? (entry?.key ?? null) : null;
  const keyVariable = isOfEntry ? null : (data?.keyVariable ?? null);
  const ownKey = keyVariable === null ? null : setting(env[keyVariable]);
  const named = source !== null && "variable" in source ? source.variable : null;
  const apiKey = ownKey ?? (named === null ? null : setting(env[named]));
  const baseUrl = address?.url ?? entryUrl;
  return {
    api: entry?.api ?? apiOf(data, baseUrl),
    baseUrl,
    addressFrom: address?.variable ?? addressPlace(name, data),
    apiKey,
    keyFrom: (ownKey === null ? named : null) ?? keyVariable ?? `providers.${name}`,
    keySource: apiKey === null && named === null ? source : null,
    headers: mayUseEntry ? (entry?.headers ?? {}) : {},
    secrets: [
      ...[data?.keyVariable ?? null, named, ...(data?.secretVariables ?? [])].flatMap((variable) =>
        variable === null ? [] : { name: variable, value: env[variable] ?? "" },
      ),
      ...secretsOfEndpoint(address?.variable ?? "", address?.url ?? null),
      ...secretsOfEndpoint(`providers.${name}.base_url`, entryUrl),
      ...secretHeaders(name, entry?.headers ?? {}),
    ],
  };
}

function secretHeaders(provider: string, headers: ProviderEntry["headers"]): Secret[] {
  return Object.entries(headers)
    .filter(([name]) => isSecretName(name))
    .map(([name, value]) => ({
      name: `providers.${provider}.headers.${name}`,
      value: value.replace(/^(?:bearer|basic)\s+/i, ""),
    }));
}

function apiOf(data: ProviderData | undefined, baseUrl: string | null): Api {
  const isOwn = baseUrl === null || hostOf(baseUrl) === hostOf(data?.address ?? "");
  return (isOwn ? data?.api : (data?.apiElsewhere ?? data?.api)) ?? "chat";
}

function isSameOrigin(one: string | undefined, other: string): boolean {
  const origin = URL.parse(one ?? "")?.origin;
  return origin !== undefined && origin === URL.parse(other)?.origin;
}

function hostOf(address: string): string | null {
  return URL.parse(address)?.host ?? null;
}

function addressPlace(name: string, data: ProviderData | undefined): string {
  return data?.addressVariables?.[0] ?? `providers.${name}.base_url`;
}

function addressOf(
  { addressVariables = [] }: Pick<ProviderData, "addressVariables"> = {},
  env: Env,
): { readonly url: string; readonly variable: string } | null {
  for (const variable of addressVariables) {
    const text = setting(env[variable]);
    if (text !== null) {
      return { url: variable === "OLLAMA_HOST" ? ollamaUrl(text) : text, variable };
    }
  }
  return null;
}

function setting(value: string | undefined): string | null {
  const text = value?.trim() ?? "";
  return text === "" ? null : text;
}

/** OLLAMA_HOST is `host`, `host:port` or a URL, and often the address that the server binds. */
function ollamaUrl(host: string): string {
  const text = host.includes("://") ? host : `http://${host}`;
  if (!URL.canParse(text)) {
    return text;
  }
  const url = new URL(text);
  if (url.hostname === "0.0.0.0") {
    url.hostname = "127.0.0.1";
  }
  if (url.hostname === "[::]") {
    url.hostname = "[::1]";
  }
  if (url.port === "" && !host.includes("://")) {
    url.port = "11434";
  }
  return url.href.replace(/\/$/, "");
}

import { randomBytes } from "node:crypto";

import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  IssuerMismatchError,
  type OAuthClientInformationMixed,
  OAuthError,
  type OAuthProtectedResourceMetadata,
  registerClient,
  RegistrationRejectedError,
  resourceUrlFromServerUrl,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";

import { oneLine } from "../../core/text/terminal-text.ts";
import { storableText } from "../../core/text/text.ts";
import { TooLarge } from "../bounded-fetch.ts";
import { type Callback, openCallback } from "./callback.ts";
import { unlessAborted } from "../unless-aborted.ts";
import type { Login, LoginPlace } from "./logins.ts";
import { checkEndpoint, LoginError, oauthFetch } from "./oauth-fetch.ts";

export interface LogInInput {
  readonly place: LoginPlace;
  /** Headers of the config, for the server itself. */
  readonly headers: Readonly<Record<string, string>>;
  /** A client that is registered already; null to register one. */
  readonly client: ClientSettings | null;
  /** Rights that are asked for besides those that the server names; none without it. */
  readonly more?: string | null;
  readonly signal: AbortSignal;
  /** Shows the person an address to open, and who asks them to log in. */
  readonly onAddress: (address: string, issuer: string, offer: Callback["offer"]) => void;
}

/** A client that the user has registered with an authorization server. */
export interface ClientSettings {
  readonly id: string;
  readonly secret: string | null;
  /** Port of the registered redirect address; null for any. */
  readonly port: number | null;
}

type Metadata = NonNullable<Awaited<ReturnType<typeof discoverAuthorizationServerMetadata>>>;

const MAX_ENDPOINT = 2048;
/** Characters of the rights that are asked for: they are part of an address that a person opens. */
const MAX_SCOPE = 2000;

/** Returns names of rights once each (RFC 6749, 3.3); null for none, and for more than an address holds. */
export function scopesOf(...scopes: readonly (string | undefined)[]): string | null {
  const names = scopes.flatMap((scope) => scope?.split(" ") ?? []);
  const usable = names.filter((name) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(name));
  const all = [...new Set(usable)].join(" ");
  return all === "" || all.length > MAX_SCOPE ? null : all;
}

/**
 * Logs in at a server as "Authorization" of the MCP specification (2025-11-25 and 2026-07-28) has it: metadata of the resource
 * (RFC 9728) and of the authorization server (RFC 8414), a registered client (RFC 7591), a code with PKCE (RFC 7636) for
 * this resource (RFC 8707) at a callback on this machine (RFC 8252), whose state and issuer (RFC 9207) are checked. Rejects with a
 * `LoginError`, or with the reason of the signal.
 */
export async function logIn(input: LogInInput): Promise<Login> {
  const { place, signal } = input;
  const fetchFn = oauthFetch({ url: place.url, signal });
  try {
    const found = await discover(input, fetchFn);
    const state = randomBytes(32).toString("base64url");
    const callback = await openCallback(state, input.client?.port ?? 0);
    try {
      return await authorize({ ...input, ...found, fetchFn, state, callback });
    } finally {
      await callback.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof LoginError ? error : new LoginError(reasonOf(error), { cause: error });
  }
}

interface Found {
  readonly metadata: Metadata;
  /** As the server's metadata spells it. */
  readonly resource: string;
  readonly scope: string | undefined;
}

async function discover(
  { place, headers, more = null, signal }: LogInInput,
  fetchFn: typeof fetch,
): Promise<Found> {
  const challenge = await challengeOf({ place, headers, signal }, fetchFn);
  const described = await resourceMetadata(place.url, challenge.resourceMetadataUrl, fetchFn);
  const resource = described?.resource ?? resourceUrlFromServerUrl(place.url).href;
  if (!checkResourceAllowed({ requestedResource: place.url, configuredResource: resource })) {
    throw new LoginError("its metadata are those of another server");
  }
  // the first specification has no metadata of resources: then the server itself answers for it
  const issuer = described?.authorization_servers?.[0] ?? new URL("/", place.url).href;
  checkEndpoint(issuer, place.url);
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
  if (metadata === undefined) {
    throw new LoginError("it asks for no login, or its authorization server has no metadata");
  }
  checkMetadata(metadata, place.url);
  return { metadata, resource, scope: scopeOf(metadata, challenge.scope, described, more) };
}

/** Asks the server without a token: it says where its metadata are (RFC 9728, 5.1). */
async function challengeOf(
  { place, headers, signal }: Pick<LogInInput, "place" | "headers" | "signal">,
  fetchFn: typeof fetch,
) {
  const response = await fetchFn(place.url, {
    method: "POST",
    redirect: "manual",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server/discover", params: {} }),
    signal,
  });
  await response.body?.cancel().catch(() => undefined);
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { resourceMetadataUrl, scope };
}

async function resourceMetadata(
  server: string,
  resourceMetadataUrl: URL | undefined,
  fetchFn: typeof fetch,
): Promise<OAuthProtectedResourceMetadata | null> {
  const options = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
  try {
    return await discoverOAuthProtectedResourceMetadata(server, options, fetchFn);
  } catch (error) {
    // what the server itself names must be there
    if (error instanceof LoginError || resourceMetadataUrl !== undefined) {
      throw error;
    }
    return null;
  }
}

/** Refuses what the specification refuses: endpoints that are not https, and a server that does not say that it has PKCE. */
function checkMetadata(metadata: Metadata, server: string): void {
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  for (const endpoint of [
    authorization_endpoint,
    token_endpoint,
    registration_endpoint,
    revocationIn(metadata),
  ]) {
    if (endpoint !== undefined) {
      if (endpoint.length > MAX_ENDPOINT) {
        throw new LoginError("an address of its authorization server is too long");
      }
      checkEndpoint(endpoint, server);
    }
  }
  if (metadata.code_challenge_methods_supported?.includes("S256") !== true) {
    throw new LoginError("its authorization server does not say that it has PKCE with S256");
  }
}

/** OpenID's metadata may have it, too (RFC 7009). */
function revocationIn(metadata: Metadata): string | undefined {
  const endpoint: unknown = Reflect.get(metadata, "revocation_endpoint");
  return typeof endpoint === "string" ? endpoint : undefined;
}

/** Scopes that the server asks for, else those that it has ("Scope Selection Strategy"), and `offline_access` for a refresh token. */
function scopeOf(
  { scopes_supported }: Metadata,
  asked: string | undefined,
  described: OAuthProtectedResourceMetadata | null,
  more: string | null,
): string | undefined {
  const scope = asked ?? described?.scopes_supported?.join(" ");
  const names = [scope, more].flatMap((each) => each?.split(" ") ?? []).filter(Boolean);
  const offline = scopes_supported?.includes("offline_access") === true ? ["offline_access"] : [];
  const all = [...new Set([...names, ...offline])].join(" ");
  if (all.length > MAX_SCOPE) {
    throw new LoginError("it asks for too many rights");
  }
  return names.length === 0 ? undefined : all;
}

async function authorize({
  place,
  client,
  signal,
  onAddress,
  metadata,
  resource,
  scope,
  fetchFn,
  state,
  callback,
}: LogInInput &
  Found & {
    readonly fetchFn: typeof fetch;
    readonly state: string;
    readonly callback: Callback;
  }): Promise<Login> {
  const { issuer } = metadata;
  const scoped = scope === undefined ? {} : { scope };
  const clientInformation = await clientOf(client, { metadata, callback, scoped, fetchFn });
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
    metadata,
    clientInformation,
    redirectUrl: callback.url,
    state,
    resource,
    ...scoped,
  });
  onAddress(authorizationUrl.href, issuer, callback.offer);
  const given = await unlessAborted(callback.received, signal);
  const iss = given.get("iss") ?? undefined;
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: issuer,
    issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
  });
  const code = given.get("code");
  if (code === null) {
    throw new LoginError(refusalOf(given.get("error"), given.get("error_description")));
  }
  const tokens = await exchangeAuthorization(issuer, {
    metadata,
    clientInformation,
    authorizationCode: code,
    ...(iss === undefined ? {} : { iss }),
    codeVerifier,
    redirectUri: callback.url,
    resource,
    fetchFn,
  });
  const revocation = revocationIn(metadata);
  const granted = scopesOf(tokens.scope ?? scope);
  return {
    ...place,
    resource,
    issuer,
    token_endpoint: metadata.token_endpoint,
    ...(revocation === undefined ? {} : { revocation_endpoint: revocation }),
    auth_methods: metadata.token_endpoint_auth_methods_supported ?? [],
    client_id: clientInformation.client_id,
    ...(clientInformation.client_secret === undefined
      ? {}
      : { client_secret: clientInformation.client_secret }),
    ...tokensOf(tokens),
    // what is not said is what was asked for (RFC 6749, 5.1)
    ...(granted === null ? {} : { scope: granted }),
  };
}

/** Checks the tokens of a login or a refresh. */
export function tokensOf(tokens: {
  readonly access_token: string;
  readonly token_type: string;
  readonly refresh_token?: string | undefined;
}): Pick<Login, "access_token" | "refresh_token"> {
  const { access_token, token_type, refresh_token } = tokens;
  if (token_type.toLowerCase() !== "bearer") {
    throw new LoginError("its authorization server gives tokens of an unknown type");
  }
  // RFC 6750, 2.1; another one could not be sent
  if (!/^[\w.~+/-]+=*$/.test(access_token)) {
    throw new LoginError("its authorization server gives a token that cannot be sent");
  }
  return { access_token, ...(refresh_token === undefined ? {} : { refresh_token }) };
}

async function clientOf(
  client: ClientSettings | null,
  {
    metadata,
    callback,
    scoped,
    fetchFn,
  }: {
    readonly metadata: Metadata;
    readonly callback: Callback;
    readonly scoped: { readonly scope?: string };
    readonly fetchFn: typeof fetch;
  },
): Promise<OAuthClientInformationMixed> {
  if (client !== null) {
    const { id, secret } = client;
    return { client_id: id, ...(secret === null ? {} : { client_secret: secret }) };
  }
  if (metadata.registration_endpoint === undefined) {
    throw new LoginError(
      "its authorization server registers no clients by itself. Register one there and name it in `oauth.client_id` of the server",
    );
  }
  return registerClient(metadata.issuer, {
    metadata,
    clientMetadata: {
      client_name: "Reprise",
      redirect_uris: [callback.url],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "native",
    },
    ...scoped,
    fetchFn,
  });
}

const MAX_REASON = 200;

/** Says what an authorization server refused; its words are cut and cleaned. */
function refusalOf(error: string | null, description: string | null): string {
  const words = [error ?? "no reason", description].filter((text) => text !== null && text !== "");
  return `its authorization server refused it: ${words.map((text) => shown(text ?? "")).join(", ")}`;
}

function shown(text: string): string {
  const line = oneLine(storableText(text.slice(0, 2 * MAX_REASON)));
  return line.length > MAX_REASON ? `${line.slice(0, MAX_REASON - 1)}…` : line;
}

/** Describes an error: never a text with the answer of a server in it, which may hold a token. */
function reasonOf(error: unknown): string {
  if (error instanceof OAuthError) {
    // an answer in another form is quoted whole
    return error.message.includes("Raw body")
      ? "its authorization server answered with an error"
      : refusalOf(error.code, error.message);
  }
  if (error instanceof TooLarge) {
    return "an answer of its authorization server is too large";
  }
  if (error instanceof IssuerMismatchError) {
    return "its authorization server is another one than it says";
  }
  if (error instanceof RegistrationRejectedError) {
    return "its authorization server does not register Reprise. Register a client there and name it in `oauth.client_id` of the server";
  }
  return "its authorization server sends a wrong answer";
}

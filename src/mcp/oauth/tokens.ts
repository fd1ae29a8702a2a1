import {
  type AuthProvider,
  extractWWWAuthenticateParams,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
  UnauthorizedError,
} from "@modelcontextprotocol/client";

import type { Secret } from "../../core/secrets.ts";
import { scopesOf, tokensOf } from "./log-in.ts";
import { type Login, type LoginPlace, Logins, secretsOfLogin } from "./logins.ts";
import { LoginError, oauthFetch } from "./oauth-fetch.ts";

export interface TokensInput {
  readonly folder: string;
  readonly place: LoginPlace;
  readonly signal: AbortSignal;
  /** Gets each token before it is sent. */
  readonly onSecrets: (secrets: readonly Secret[]) => void;
}

/**
 * The tokens of a connection to a server. One that is refused is refreshed once, by one process at a time, because a
 * refresh token may count once (RFC 9700, 4.14.2). One that was refreshed and is refused before it was ever accepted
 * is not refreshed again.
 */
export class Tokens implements AuthProvider {
  readonly #input: TokensInput;
  readonly #logins: Logins;
  #login: Promise<Login | null> | null = null;
  #refreshing: Promise<void> | null = null;
  readonly #refused = new WeakMap<Response, string>();
  /** Tokens that were refused, or come from a refresh and were not accepted yet. */
  readonly #doubted = new Set<string>();

  constructor(input: TokensInput) {
    this.#input = input;
    this.#logins = new Logins(input.folder);
  }

  async token(): Promise<string | undefined> {
    return (await (this.#login ??= this.#read()))?.access_token;
  }

  /** Notes which token an answer refuses. */
  watched(base: typeof fetch): typeof fetch {
    return async (input, init) => {
      const response = await base(input, init);
      const token = /^Bearer (.+)$/.exec(
        new Headers(init?.headers).get("authorization") ?? "",
      )?.[1];
      if (token !== undefined && response.status === 401) {
        this.#refused.set(response, token);
      } else if (token !== undefined) {
        this.#doubted.delete(token);
        if (response.status === 403) {
          await this.#want(response);
        }
      }
      return response;
    };
  }

  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    const refused = this.#refused.get(response) ?? null;
    if (refused === null) {
      // somebody may have logged in meanwhile
      this.#login = this.#read();
    }
    if (((await this.token()) ?? null) !== refused) {
      // another request has refreshed it meanwhile
      return;
    }
    this.#refreshing ??= this.#refresh(refused).finally(() => {
      this.#refreshing = null;
    });
    await this.#refreshing;
  }

  /** Keeps the rights that a server asks for: one that asks for no names of rights gets another login alone (RFC 6750, 3.1). */
  async #want(response: Response): Promise<void> {
    const { error, scope } = extractWWWAuthenticateParams(response);
    const wanted = error === "insufficient_scope" ? scopesOf(scope) : null;
    if (wanted !== null) {
      await this.#logins.want(this.#input.place, wanted).catch(() => undefined);
    }
  }

  async #read(): Promise<Login | null> {
    const login = await this.#logins.read(this.#input.place);
    if (login !== null) {
      this.#input.onSecrets(secretsOfLogin(login));
    }
    return login;
  }

  async #refresh(refused: string | null): Promise<void> {
    const { place } = this.#input;
    if (refused === null || this.#doubted.has(refused)) {
      throw new UnauthorizedError();
    }
    await this.#logins.alone(place, async () => {
      const known = await this.#read();
      if (known === null || known.refresh_token === undefined) {
        throw new UnauthorizedError();
      }
      const next = known.access_token === refused ? await this.#refreshed(known) : known;
      this.#doubted.add(next.access_token);
      this.#login = Promise.resolve(next);
    });
  }

  async #refreshed(login: Login): Promise<Login> {
    const { place, signal, onSecrets } = this.#input;
    const { issuer, token_endpoint, auth_methods, client_id, client_secret, refresh_token } = login;
    try {
      const tokens = await refreshAuthorization(issuer, {
        metadata: {
          issuer,
          token_endpoint,
          authorization_endpoint: issuer,
          response_types_supported: ["code"],
          token_endpoint_auth_methods_supported: [...auth_methods],
        },
        clientInformation: {
          client_id,
          ...(client_secret === undefined ? {} : { client_secret }),
        },
        refreshToken: refresh_token ?? "",
        resource: login.resource,
        fetchFn: oauthFetch({ url: place.url, signal }),
      });
      const next = { ...login, ...tokensOf(tokens) };
      onSecrets(secretsOfLogin(next));
      // a refresh token that is lost needs another login
      await this.#logins.keep(next).catch(() => undefined);
      return next;
    } catch (error) {
      if (error instanceof OAuthError && !isServerError(error)) {
        throw new UnauthorizedError();
      }
      // other errors may quote an answer, which has tokens
      throw error instanceof LoginError
        ? error
        : new LoginError("its login cannot be renewed now", { cause: error });
    }
  }
}

/** True for an error that says nothing of the refresh token. */
function isServerError({ code }: OAuthError): boolean {
  const known: string = OAuthErrorCode.ServerError;
  return code === known;
}

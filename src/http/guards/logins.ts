import type { ServerResponse } from "node:http";

import type { FastifyRequest } from "fastify";

import { LOGIN_CHECK_MS, LOGIN_MAX_MS, type Login } from "../../core/access.ts";
import type { LoginKind } from "../../core/principal.ts";
import type { LoginRequest } from "../../core/schemas/access-schemas.ts";
import {
  endLogin,
  hasLoginCode,
  loginByCode,
  loginByShare,
  loginByToken,
  readLogin,
  touchLogin,
  type ValidLogin,
} from "../../store/records/access/logins.ts";
import { hashOf } from "../../store/records/access/secrets.ts";
import type { Store } from "../../store/store.ts";
import { secretCheck } from "./secret-check.ts";
import { addressOf, connectionOf, type ConnectionOptions, cookieValues } from "./connection-of.ts";
import { createCookieSigner } from "./cookie-signer.ts";
import { createFailedLogins } from "./failed-logins.ts";
import { isPageRequest } from "./page-request.ts";

export interface LoginsOptions extends ConnectionOptions {
  readonly store: Store;
  /** The token of the service, set or made; nobody becomes its owner without one. */
  readonly token: string | undefined;
  readonly readToken: string | undefined;
  /** How long after its login has ended an answer stays open at most; `LOGIN_CHECK_MS` by default. */
  readonly checkMs?: number | undefined;
  readonly onFailure: (error: unknown, id?: string) => void;
}

/** A login, and the header that gives it to the browser. */
interface Entered {
  readonly login: Login;
  readonly cookie: string;
}

/** The logins of browsers. */
export interface Logins {
  /** Returns the login whose cookie a request has; null without a valid one, and if the page did not send the request. */
  loginOf(request: FastifyRequest): Promise<Login | null>;
  /** Ends an answer that is still open when its login ends. */
  watch(response: ServerResponse, login: string): void;
  /**
   * Makes a login. A valid login that the request has ends, but for one that sees more than the link of a session.
   * Null if that one is kept.
   *
   * Error codes: `login_refused`, `too_many_logins`.
   */
  enter(request: FastifyRequest, given: LoginRequest): Promise<Entered | null>;
  /** Ends the login of a request. Returns the header that takes it from the browser. */
  leave(request: FastifyRequest): Promise<string>;
}

export function createLogins(options: LoginsOptions): Logins {
  const { store, token, readToken, onFailure, checkMs = LOGIN_CHECK_MS } = options;
  const signer = createCookieSigner(options);
  const failed = createFailedLogins();
  const isToken = secretCheck(token);
  const isReadToken = secretCheck(readToken);

  const find = async (value: string): Promise<ValidLogin | null> => {
    const opened = await signer.open(value);
    const login = opened === null ? null : await store.read(readLogin, { id: opened.id });
    return login !== null && opened?.isSignedAs(login.kind) === true ? login : null;
  };

  const byToken = (given: string): "token" | "read_token" | null => {
    if (isToken(given)) {
      return "token";
    }
    return isReadToken(given) ? "read_token" : null;
  };

  const add = async (
    given: LoginRequest,
    earlier: string | null,
  ): Promise<{ id: string | null; kind: LoginKind }> => {
    if (given.token !== undefined) {
      const kind = byToken(given.token);
      if (kind === null) {
        return { id: null, kind: "token" };
      }
      return { id: await store.write(loginByToken, { kind, earlier }), kind };
    }
    const hash = hashOf(given.code ?? given.share ?? "");
    if (given.code === undefined) {
      return { id: await store.write(loginByShare, { hash, earlier }), kind: "share" };
    }
    // without a token there is no owner; who guesses makes no writes
    const mayBe = token !== undefined && (await store.read(hasLoginCode, { hash }));
    return { id: mayBe ? await store.write(loginByCode, { hash, earlier }) : null, kind: "code" };
  };

  return {
    loginOf: async (request) => {
      const { cookie } = request.raw.headers;
      if (cookie === undefined || !isPageRequest(request.raw)) {
        return null;
      }
      const { name } = connectionOf(request, options).cookie;
      for (const value of cookieValues(cookie, name).slice(0, MAX_COOKIES)) {
        const login = await find(value);
        if (login !== null) {
          if (login.isStale) {
            await store.write(touchLogin, { id: login.id }).catch(onFailure);
          }
          return login;
        }
      }
      return null;
    },
    watch: (response, id) => {
      const check = async (): Promise<void> => {
        // while the database is away, nobody can say that the login has ended
        const login = await store.read(readLogin, { id }).catch(() => undefined);
        if (login === null) {
          response.destroy();
        } else if (!response.closed) {
          timer = setTimeout(() => void check(), checkMs).unref();
        }
      };
      let timer = setTimeout(() => void check(), checkMs).unref();
      response.once("close", () => clearTimeout(timer));
    },
    enter: async (request, given) => {
      const { principal, login: earlier } = request;
      if (
        given.share !== undefined &&
        (principal.role === "owner" || principal.role === "reader")
      ) {
        return null;
      }
      const { id, kind } = await add(given, earlier?.id ?? null);
      const login = id === null ? null : await store.read(readLogin, { id });
      if (login === null) {
        throw failed.add(addressOf(request, options));
      }
      const { name, attributes } = connectionOf(request, options).cookie;
      const value = await signer.sign(login.id, kind);
      const cookie = `${name}=${value}; Max-Age=${LOGIN_MAX_MS / 1000}; ${attributes}`;
      return { login, cookie };
    },
    leave: async (request) => {
      const { login } = request;
      if (login !== null) {
        await store.write(endLogin, { id: login.id });
      }
      const { name, attributes } = connectionOf(request, options).cookie;
      return `${name}=; Max-Age=0; ${attributes}`;
    },
  };
}

/** A browser has one, or few if the public path has changed; each costs a query. */
const MAX_COOKIES = 4;

import type { Login } from "../../core/access.ts";
import { LoginRequest, Whoami } from "../../core/schemas/access-schemas.ts";
import { RepriseError } from "../../core/errors.ts";
import { NoQuery } from "../../core/schemas/query-schemas.ts";
import { named } from "../../core/schemas/schemas.ts";
import { refuseBody } from "../guards/json-body.ts";
import { type Api, BODY_PROBLEMS } from "../routes/api.ts";
import { json, problems, REQUEST_ID } from "../responses.ts";
import { connectionOf, type ConnectionOptions } from "../guards/connection-of.ts";
import type { Logins } from "../guards/logins.ts";
import { isPageRequest } from "../guards/page-request.ts";
import type { Principal } from "../../core/principal.ts";

export interface LoginRoutesOptions extends ConnectionOptions {
  readonly logins: Logins;
  readonly version: string;
}

const PUBLIC = { needs: "nothing" } as const;

const loginSchema = {
  operationId: "logIn",
  summary: "Logs a browser in",
  description:
    "With a one-time code, a token, or the secret of a link: exactly one of them. The answer sets a cookie, which counts only in requests of the service's own page: `X-Reprise-Page: 1` and `Sec-Fetch-Site: same-origin`. An owner or reader who opens a link stays what they are.",
  querystring: NoQuery,
  body: named(LoginRequest),
  response: {
    200: json(named(Whoami), {
      description: "Who is logged in now.",
      headers: { "Set-Cookie": { type: "string", description: "The login." } },
    }),
    ...problems({
      ...BODY_PROBLEMS,
      401: "`login_refused`: the code, token or link is not valid.",
      403: "The page of this service did not send the request.",
      429: "`too_many_logins`: more than 10 logins of this address have failed within a minute.",
    }),
  },
};

const logoutSchema = {
  operationId: "logOut",
  summary: "Logs a browser out",
  description: "Its login ends, and its cookie is removed. Without a login, only the latter.",
  querystring: NoQuery,
  response: {
    204: {
      type: "null",
      description: "Done.",
      headers: {
        "X-Request-Id": REQUEST_ID,
        "Set-Cookie": { type: "string", description: "Removes the login." },
      },
    },
    ...problems({ 403: "The page of this service did not send the request." }),
  },
};

const meSchema = {
  operationId: "whoAmI",
  summary: "Returns who sends the request, and what they may do",
  description:
    "`owner` everything, `reader` everything that only reads, `visitor` one session, `guest` what needs no login.",
  querystring: NoQuery,
  response: { 200: json(named(Whoami), { description: "Who it is." }), ...problems() },
};

export function loginRoutes(app: Api, options: LoginRoutesOptions): void {
  const { logins, version } = options;
  const whoami = ({ role }: Principal, login: Login | null, plain_http: boolean): Whoami => ({
    role,
    session: login?.session ?? null,
    expires_at: login?.expires_at ?? null,
    plain_http,
    version,
  });
  app.route({
    method: "POST",
    url: "/page/login",
    schema: loginSchema,
    config: PUBLIC,
    handler: async (request, reply) => {
      requirePage(request);
      const entered = await logins.enter(request, request.body);
      if (entered !== null) {
        reply.header("set-cookie", entered.cookie);
      }
      const { plainHttp } = connectionOf(request, options);
      const login = entered?.login ?? request.login;
      return whoami(login?.principal ?? request.principal, login, plainHttp);
    },
  });
  app.route({
    method: "POST",
    url: "/page/logout",
    schema: logoutSchema,
    config: PUBLIC,
    preValidation: refuseBody,
    handler: async (request, reply) => {
      requirePage(request);
      reply.header("set-cookie", await logins.leave(request));
      return reply.code(204).send(null);
    },
  });
  app.route({
    method: "GET",
    url: "/page/me",
    schema: meSchema,
    config: PUBLIC,
    handler: async (request) =>
      whoami(request.principal, request.login, connectionOf(request, options).plainHttp),
  });
}

/** Another page must not log a browser in or out. Error codes: `origin_refused`. */
function requirePage(request: Parameters<typeof connectionOf>[0]): void {
  if (!isPageRequest(request.raw)) {
    throw new RepriseError(
      "origin_refused",
      "Only the page of this service logs a browser in or out. A program sends its token with each call, as `Authorization: Bearer <token>`.",
    );
  }
}

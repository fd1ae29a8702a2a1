import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import { z } from "zod";

/*
 * An MCP server that needs a login, and its authorization server, on two ports of this machine. They refuse what the
 * rules refuse, with the section that says so:
 * - MCP specification, "Authorization": tokens for this server alone, 401 with `resource_metadata`
 * - RFC 6749 (codes and refresh tokens), RFC 6750 (bearer tokens), RFC 7591 (registration), RFC 7636 (PKCE)
 * - RFC 8252, 7.3 (loopback redirects with any port), RFC 8414, RFC 8707 (resource), RFC 9207 (iss), RFC 9728
 * - RFC 9700, 4.14.2 (a refresh token counts once; a used one ends the login)
 */

type Json = Readonly<Record<string, unknown>>;
type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => unknown;

interface Code {
  readonly client: string;
  readonly redirect: string;
  readonly challenge: string;
  readonly resource: string;
  readonly scope: string;
  isUsed: boolean;
  tokens: string[];
}

export interface OAuthOptions {
  /** Changes the metadata of the authorization server. */
  readonly metadata?: (metadata: Json) => Json;
  /** Changes the metadata of the resource. */
  readonly resource?: (metadata: Json) => Json;
  /** Answers paths of the authorization server in its place. */
  readonly paths?: Readonly<Record<string, Handler>>;
  /** Answers paths of the MCP server in its place. */
  readonly serverPaths?: Readonly<Record<string, Handler>>;
  /** The value of `WWW-Authenticate`. */
  readonly challenge?: (value: string) => string;
  /** Without it, refresh tokens are given. */
  readonly noRefresh?: true;
  /** A right that calls need, and that no token has unless it is asked for (RFC 6750, 3.1). */
  readonly callScope?: string;
}

export async function startOAuth(options: OAuthOptions = {}) {
  const issuerPlace = await listen();
  const serverPlace = await listen();
  const issuer = issuerPlace.origin;
  const resource = `${serverPlace.origin}/mcp`;
  const refused: string[] = [];
  const requests: string[] = [];
  const clients = new Map<string, readonly string[]>();
  const codes = new Map<string, Code>();
  const access = new Map<
    string,
    { readonly resource: string; readonly scope: string; isExpired: boolean }
  >();
  const refresh = new Map<
    string,
    { readonly client: string; isUsed: boolean; resource: string; scope: string }
  >();
  const revoked: string[] = [];

  const refuse = (response: ServerResponse, error: string, why: string): void => {
    refused.push(why);
    json(response, 400, { error, error_description: why });
  };
  const newTokens = (client: string, forResource: string, scope: string): Json => {
    const access_token = `access-${randomBytes(16).toString("hex")}`;
    access.set(access_token, { resource: forResource, scope, isExpired: false });
    if (options.noRefresh === true) {
      return { access_token, token_type: "Bearer", expires_in: 3600, scope };
    }
    const refresh_token = `refresh-${randomBytes(16).toString("hex")}`;
    refresh.set(refresh_token, { client, isUsed: false, resource: forResource, scope });
    return { access_token, token_type: "Bearer", expires_in: 3600, scope, refresh_token };
  };

  const paths: Record<string, Handler> = {
    "/.well-known/oauth-authorization-server": (_, response) => {
      const metadata: Json = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        revocation_endpoint: `${issuer}/revoke`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        authorization_response_iss_parameter_supported: true,
      };
      json(response, 200, options.metadata?.(metadata) ?? metadata);
    },
    "/register": (_, response, body) => {
      const { redirect_uris } = JSON.parse(body) as { redirect_uris?: string[] };
      if (redirect_uris?.every((uri) => /^http:\/\/127\.0\.0\.1:\d+\//.test(uri)) !== true) {
        refuse(response, "invalid_redirect_uri", "RFC 7591, 3.2.2: redirect_uris");
        return;
      }
      const client_id = randomBytes(8).toString("hex");
      clients.set(client_id, redirect_uris);
      json(response, 201, { ...(JSON.parse(body) as Json), client_id });
    },
    "/authorize": ({ url = "" }, response) => {
      const given = new URL(url, issuer).searchParams;
      const client = clients.get(given.get("client_id") ?? "");
      const redirect = given.get("redirect_uri") ?? "";
      if (client === undefined || !client.some((uri) => isSameRedirect(uri, redirect))) {
        refuse(response, "invalid_request", "RFC 6749, 3.1.2.4: client or redirect_uri");
        return;
      }
      const back = new URL(redirect);
      back.searchParams.set("iss", issuer);
      back.searchParams.set("state", given.get("state") ?? "");
      const why =
        given.get("response_type") !== "code"
          ? "RFC 6749, 3.1.1: response_type"
          : given.get("code_challenge_method") !== "S256" ||
              !/^[\w-]{43}$/.test(given.get("code_challenge") ?? "")
            ? "RFC 7636, 4.3: code_challenge"
            : given.get("resource") !== resource
              ? "RFC 8707, 2: resource"
              : (given.get("state") ?? "").length < 16
                ? "RFC 6749, 10.12: state"
                : null;
      if (why === null) {
        const code = randomBytes(8).toString("hex");
        codes.set(code, {
          client: given.get("client_id") ?? "",
          redirect,
          challenge: given.get("code_challenge") ?? "",
          resource,
          scope: given.get("scope") ?? "",
          isUsed: false,
          tokens: [],
        });
        back.searchParams.set("code", code);
      } else {
        refused.push(why);
        back.searchParams.set("error", "invalid_request");
      }
      response.writeHead(302, { location: back.href }).end();
    },
    "/token": ({ headers }, response, body) => {
      if (
        headers["content-type"] !== "application/x-www-form-urlencoded;charset=UTF-8" &&
        headers["content-type"] !== "application/x-www-form-urlencoded"
      ) {
        refuse(response, "invalid_request", "RFC 6749, 4.1.3: form");
        return;
      }
      const given = new URLSearchParams(body);
      const client = given.get("client_id") ?? "";
      if (!clients.has(client)) {
        refuse(response, "invalid_client", "RFC 6749, 5.2: client");
        return;
      }
      if (given.get("resource") !== resource) {
        refuse(response, "invalid_target", "RFC 8707, 2.2: resource");
        return;
      }
      if (given.get("grant_type") === "refresh_token") {
        const token = refresh.get(given.get("refresh_token") ?? "");
        if (token === undefined || token.client !== client || token.isUsed) {
          refresh.clear();
          access.clear();
          refuse(response, "invalid_grant", "RFC 9700, 4.14.2: refresh_token");
          return;
        }
        token.isUsed = true;
        json(response, 200, newTokens(client, resource, token.scope));
        return;
      }
      const code = codes.get(given.get("code") ?? "");
      const verifier = given.get("code_verifier") ?? "";
      const challenge = createHash("sha256").update(verifier).digest("base64url");
      const why =
        given.get("grant_type") !== "authorization_code"
          ? "RFC 6749, 4.1.3: grant_type"
          : code === undefined || code.client !== client
            ? "RFC 6749, 5.2: code"
            : code.isUsed
              ? "RFC 6749, 4.1.2: a code counts once"
              : code.redirect !== given.get("redirect_uri")
                ? "RFC 6749, 4.1.3: redirect_uri"
                : !/^[\w.~-]{43,128}$/.test(verifier) || code.challenge !== challenge
                  ? "RFC 7636, 4.6: code_verifier"
                  : null;
      if (why !== null || code === undefined) {
        code?.tokens.forEach((token) => access.delete(token));
        refuse(response, "invalid_grant", why ?? "");
        return;
      }
      code.isUsed = true;
      const tokens = newTokens(client, resource, code.scope);
      code.tokens = [String(tokens["access_token"])];
      json(response, 200, tokens);
    },
    "/revoke": (_, response, body) => {
      revoked.push(new URLSearchParams(body).get("token") ?? "");
      response.writeHead(200).end();
    },
  };
  replaceIn(paths, options.paths);

  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "guarded", version: "1.0.0" });
    server.registerTool(
      "act",
      { description: "Acts.", inputSchema: z.object({ echo: z.string().optional() }) },
      async (_, { http }) => ({
        content: [
          {
            type: "text",
            text: `called with ${http?.req?.headers.get("authorization") ?? "nothing"}`,
          },
        ],
      }),
    );
    return server;
  });
  let calls = 0;
  const serverPaths: Record<string, Handler> = {
    "/.well-known/oauth-protected-resource/mcp": (_, response) => {
      const metadata: Json = {
        resource,
        authorization_servers: [issuer],
        scopes_supported: ["tools"],
        bearer_methods_supported: ["header"],
      };
      json(response, 200, options.resource?.(metadata) ?? metadata);
    },
    "/mcp": async (request, response, body) => {
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
      const known = access.get(token ?? "");
      if (known === undefined || known.isExpired || known.resource !== resource) {
        const value = `Bearer resource_metadata="${serverPlace.origin}/.well-known/oauth-protected-resource/mcp"`;
        response.writeHead(401, { "www-authenticate": options.challenge?.(value) ?? value }).end();
        return;
      }
      const { callScope } = options;
      const isCall = body.includes(`"tools/call"`);
      if (isCall && callScope !== undefined && !known.scope.split(" ").includes(callScope)) {
        const value = `Bearer error="insufficient_scope", scope="${callScope}", resource_metadata="${serverPlace.origin}/.well-known/oauth-protected-resource/mcp"`;
        response.writeHead(403, { "www-authenticate": value }).end();
        return;
      }
      calls += isCall ? 1 : 0;
      const answer = await handler.fetch(
        new Request(resource, {
          method: request.method ?? "GET",
          headers: Object.entries(request.headers).map(([name, value]): [string, string] => [
            name,
            String(value),
          ]),
          body: request.method === "POST" ? body : null,
        }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(await answer.text());
    },
  };
  replaceIn(serverPaths, options.serverPaths);

  issuerPlace.serve(paths, (line) => requests.push(`issuer ${line}`));
  serverPlace.serve(serverPaths, (line) => requests.push(`server ${line}`));
  return {
    issuer,
    resource,
    /** Rules that were broken. */
    refused,
    /** Methods and paths, in order. */
    requests,
    revoked,
    clients,
    refreshes: () => [...refresh.values()].filter(({ isUsed }) => isUsed).length,
    calls: () => calls,
    /** Lets all access tokens expire. */
    expire: () => access.forEach((token) => (token.isExpired = true)),
    /** Forgets all tokens. */
    forget: () => {
      access.clear();
      refresh.clear();
    },
  };
}

/** Returned by a handler that leaves a request to the usual one. */
export const USUAL = Symbol("usual");

function replaceIn(paths: Record<string, Handler>, others: OAuthOptions["paths"] = {}): void {
  for (const [path, handler] of Object.entries(others)) {
    const usual = paths[path];
    paths[path] = (...given) => {
      const answer = handler(...given);
      return answer === USUAL ? usual?.(...given) : answer;
    };
  }
}

/** Does what a browser does whose user agrees. Returns the last answer. */
export async function visit(address: string): Promise<Response> {
  const answer = await fetch(address, { redirect: "manual" });
  const location = answer.headers.get("location");
  return location === null ? answer : fetch(location);
}

function isSameRedirect(registered: string, given: string): boolean {
  const [a, b] = [URL.parse(registered), URL.parse(given)];
  return a !== null && b !== null && a.hostname === b.hostname && a.pathname === b.pathname;
}

export function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

/** Takes a port of this machine. */
async function listen() {
  // a client that is slow must not find its connection closed
  const server = createServer({ keepAliveTimeout: 600_000 });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    serve: (paths: Readonly<Record<string, Handler>>, onRequest: (line: string) => void) => {
      server.on("request", (request: IncomingMessage, response: ServerResponse) => {
        void (async () => {
          const body = await text(request);
          const { pathname } = new URL(request.url ?? "", "http://x");
          onRequest(`${request.method} ${pathname}`);
          const handler = paths[pathname];
          if (handler === undefined) {
            response.writeHead(404).end();
          } else {
            await handler(request, response, body);
          }
        })();
      });
    },
  };
}

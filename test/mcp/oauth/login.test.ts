import { chmodSync, readFileSync, statSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { logIn } from "../../../src/mcp/oauth/log-in.ts";
import { type Login, Logins } from "../../../src/mcp/oauth/logins.ts";
import { json, type OAuthOptions, startOAuth, visit } from "../../helpers/oauth-server.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** Logs in at a server; `browse` does what a person would. */
async function open(
  options: OAuthOptions = {},
  {
    browse = visit,
    headers = {},
    signal = AbortSignal.timeout(60_000),
  }: {
    readonly browse?: (address: string) => Promise<unknown>;
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
  } = {},
) {
  const service = await startOAuth(options);
  const addresses: string[] = [];
  const login = logIn({
    place: { server: "guarded", url: service.resource },
    headers,
    client: null,
    signal,
    onAddress: (address) => {
      addresses.push(address);
      void browse(address);
    },
  });
  return { service, addresses, login };
}

const LOGIN: Login = {
  server: "a",
  url: "https://a.example/mcp",
  resource: "https://a.example/mcp",
  issuer: "https://login.example",
  token_endpoint: "https://login.example/token",
  auth_methods: ["none"],
  client_id: "c",
  access_token: "t",
};

describe("a login", () => {
  it("[MCP-40] breaks no rule of the authorization server, and gives tokens for the server alone", async () => {
    const { service, addresses, login } = await open();
    const { access_token, refresh_token, ...rest } = await login;
    expect(service.refused).toEqual([]);
    expect(access_token).toMatch(/^access-/);
    expect(refresh_token).toMatch(/^refresh-/);
    expect(rest).toMatchObject({
      server: "guarded",
      url: service.resource,
      resource: service.resource,
      issuer: service.issuer,
    });
    const [address = ""] = addresses;
    const { searchParams, origin } = new URL(address);
    expect(origin).toBe(service.issuer);
    expect(searchParams.get("scope")).toBe("tools");
    expect(searchParams.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(searchParams.get("state")).toMatch(/^[\w-]{43}$/);
    // no one listens any more
    await expect(fetch(searchParams.get("redirect_uri") ?? "")).rejects.toThrow("fetch failed");
  });

  it("[MCP-40] the mock refuses a wrong verifier, redirect, resource and a code that was used", async () => {
    const service = await startOAuth();
    const post = async (path: string, body: string, type: string) =>
      (
        await fetch(service.issuer + path, {
          method: "POST",
          body,
          headers: { "content-type": type },
        })
      ).json() as Promise<Record<string, string>>;
    const redirect = "http://127.0.0.1:1/callback";
    const { client_id = "" } = await post(
      "/register",
      JSON.stringify({ redirect_uris: [redirect] }),
      "application/json",
    );
    const verifier = "v".repeat(43);
    const { createHash } = await import("node:crypto");
    const code_challenge = createHash("sha256").update(verifier).digest("base64url");
    const newCode = async (changed: Record<string, string> = {}) => {
      const given = {
        response_type: "code",
        client_id,
        redirect_uri: redirect,
        code_challenge,
        code_challenge_method: "S256",
        resource: service.resource,
        state: "s".repeat(20),
        ...changed,
      };
      const address = `${service.issuer}/authorize?${new URLSearchParams(given).toString()}`;
      const answer = await fetch(address, { redirect: "manual" });
      return new URL(answer.headers.get("location") ?? "http://none").searchParams.get("code");
    };
    expect(await newCode({ resource: "https://other.example" })).toBeNull();
    expect(await newCode({ code_challenge_method: "plain" })).toBeNull();
    expect(await newCode({ redirect_uri: "http://127.0.0.2:1/callback" })).toBeNull();
    const token = async (changed: Record<string, string> = {}) => {
      const given = {
        grant_type: "authorization_code",
        client_id,
        code: (await newCode()) ?? "",
        redirect_uri: redirect,
        code_verifier: verifier,
        resource: service.resource,
        ...changed,
      };
      const body = new URLSearchParams(given).toString();
      return post("/token", body, "application/x-www-form-urlencoded");
    };
    expect(await token({ code_verifier: "w".repeat(43) })).toMatchObject({
      error: "invalid_grant",
    });
    expect(await token({ redirect_uri: "http://127.0.0.1:2/callback" })).toMatchObject({
      error: "invalid_grant",
    });
    expect(await token({ resource: "https://other.example" })).toMatchObject({
      error: "invalid_target",
    });
    const code = (await newCode()) ?? "";
    expect(await token({ code })).toHaveProperty("access_token");
    expect(await token({ code })).toMatchObject({ error: "invalid_grant" });
  });

  it("[MCP-41] ignores callbacks of another state, method or path, and those that say things twice", async () => {
    const answers: number[] = [];
    const { service, login } = await open(
      {},
      {
        browse: async (address) => {
          const back = new URL(address).searchParams.get("redirect_uri") ?? "";
          const state = new URL(address).searchParams.get("state") ?? "";
          for (const [url, method] of [
            [`${back}?code=evil&state=other`, "GET"],
            [`${back}?code=evil`, "GET"],
            [`${back}?code=evil&state=${state}`, "POST"],
            [`${back}?code=evil&code=x&state=${state}`, "GET"],
            [`${back}/x?code=evil&state=${state}`, "GET"],
            [`${back}?code=${"x".repeat(5000)}&state=${state}`, "GET"],
          ] as const) {
            answers.push((await fetch(url, { method })).status);
          }
          await visit(address);
        },
      },
    );
    expect((await login).access_token).toMatch(/^access-/);
    expect(answers).toEqual([400, 400, 400, 400, 400, 400]);
    expect(service.refused).toEqual([]);
  });

  it("[MCP-41] refuses the callback of another issuer, or without one", async () => {
    for (const iss of ["https://evil.example", null]) {
      const { service, login } = await open(
        {},
        {
          browse: async (address) => {
            const answer = await fetch(address, { redirect: "manual" });
            const back = new URL(answer.headers.get("location") ?? "");
            if (iss === null) {
              back.searchParams.delete("iss");
            } else {
              back.searchParams.set("iss", iss);
            }
            await fetch(back);
          },
        },
      );
      await expect(login).rejects.toThrow("is another one than it says");
      expect(service.requests).not.toContain("issuer POST /token");
    }
  });

  it("[MCP-41] quotes no refusal of another issuer", async () => {
    const { login } = await open(
      {},
      {
        browse: async (address) => {
          const { searchParams } = new URL(address);
          const back = new URL(searchParams.get("redirect_uri") ?? "");
          back.searchParams.set("state", searchParams.get("state") ?? "");
          back.searchParams.set("iss", "https://evil.example");
          back.searchParams.set("error", "call_this_number");
          await fetch(back);
        },
      },
    );
    const error = await login.catch((error: unknown) => String(error));
    expect(error).toContain("is another one than it says");
    expect(error).not.toContain("call_this_number");
  });

  it("[MCP-41] shows a refusal without what a terminal obeys", async () => {
    const { login } = await open(
      {},
      {
        browse: async (address) => {
          const { searchParams } = new URL(address);
          const back = new URL(searchParams.get("redirect_uri") ?? "");
          back.searchParams.set("state", searchParams.get("state") ?? "");
          back.searchParams.set("iss", new URL(address).origin);
          back.searchParams.set("error", "access_denied");
          back.searchParams.set("error_description", `no\u001b[2J\n\u202e${"x".repeat(1000)}`);
          await fetch(back);
        },
      },
    );
    const error = await login.catch((error: unknown) => error);
    expect(String(error)).toContain("refused it: access_denied, no␛[2J");
    // oxlint-disable-next-line no-control-regex -- none may be there
    expect(String(error)).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(String(error).length).toBeLessThan(400);
  });

  const http = (origin: string) => `http://${origin}`;
  it.each<readonly [what: string, options: OAuthOptions, reason: string]>([
    [
      "an issuer that is not https",
      { resource: (m) => ({ ...m, authorization_servers: [http("login.example")] }) },
      "not https",
    ],
    [
      "an issuer that is a file",
      { resource: (m) => ({ ...m, authorization_servers: ["file:///etc/passwd"] }) },
      "",
    ],
    [
      "metadata of another issuer",
      { metadata: (m) => ({ ...m, issuer: "https://other.example" }) },
      "is another one than it says",
    ],
    [
      "metadata of another resource",
      { resource: (m) => ({ ...m, resource: "https://other.example/mcp" }) },
      "those of another server",
    ],
    [
      "a token endpoint that is not https",
      { metadata: (m) => ({ ...m, token_endpoint: http("login.example/token") }) },
      "not https",
    ],
    [
      "an address to open that is a script",
      { metadata: (m) => ({ ...m, authorization_endpoint: "javascript:alert(1)" }) },
      "",
    ],
    [
      "an address to open with a password",
      { metadata: (m) => ({ ...m, authorization_endpoint: "https://a:b@login.example/" }) },
      "a password in it",
    ],
    [
      "an address to open of megabytes",
      { metadata: (m) => ({ ...m, authorization_endpoint: `https://x/${"a".repeat(10_000)}` }) },
      "too long",
    ],
    [
      "rights of megabytes",
      {
        resource: (m) => ({
          ...m,
          scopes_supported: Array.from({ length: 500 }, (_, at) => `right${at}`),
        }),
      },
      "too many rights",
    ],
    [
      "no PKCE",
      { metadata: ({ code_challenge_methods_supported: _, ...m }) => m },
      "does not say that it has PKCE",
    ],
    [
      "plain PKCE alone",
      { metadata: (m) => ({ ...m, code_challenge_methods_supported: ["plain"] }) },
      "does not say that it has PKCE",
    ],
    ["no registration", { metadata: ({ registration_endpoint: _, ...m }) => m }, "oauth.client_id"],
    [
      "a registration that fails",
      {
        paths: {
          "/register": (_, response) =>
            json(response, 400, { error: "x", error_description: "\u001b[2J" }),
        },
      },
      "does not register Reprise",
    ],
    [
      "metadata of megabytes",
      {
        paths: {
          "/.well-known/oauth-authorization-server": (_, response) =>
            json(response, 200, { x: "y".repeat(3_000_000) }),
        },
      },
      "too large",
    ],
    [
      "metadata without end",
      { paths: { "/.well-known/oauth-authorization-server": (_, response) => endless(response) } },
      "too large",
    ],
    [
      "metadata that are none",
      {
        paths: {
          "/.well-known/oauth-authorization-server": (_, response) => json(response, 200, [1]),
        },
      },
      "a wrong answer",
    ],
    [
      "resource metadata elsewhere on the network",
      { challenge: () => `Bearer resource_metadata="http://169.254.169.254/latest/meta-data"` },
      "not https",
    ],
    [
      "redirects of the metadata to another origin",
      {
        paths: {
          "/.well-known/oauth-authorization-server": (_, response) =>
            response.writeHead(302, { location: "http://localhost:1/x" }).end(),
        },
      },
      "no metadata",
    ],
    [
      "redirects of the code to another origin",
      {
        paths: {
          "/token": (_, response) =>
            response.writeHead(307, { location: "http://localhost:1/token" }).end(),
        },
      },
      "",
    ],
    [
      "redirects in a circle",
      {
        paths: {
          "/.well-known/oauth-authorization-server": (_, response) =>
            response.writeHead(302, { location: "/.well-known/oauth-authorization-server" }).end(),
        },
      },
      "",
    ],
    [
      "tokens of another type",
      {
        paths: {
          "/token": (_, response) =>
            json(response, 200, { access_token: "a", token_type: "mac", expires_in: 1 }),
        },
      },
      "tokens of an unknown type",
    ],
    [
      "a token that breaks a header",
      {
        paths: {
          "/token": (_, response) =>
            json(response, 200, { access_token: "a\r\nX: b", token_type: "Bearer" }),
        },
      },
      "cannot be sent",
    ],
    [
      "an answer with a secret in the wrong form",
      {
        paths: {
          "/token": (_, response) => response.writeHead(200).end("access-secret-of-somebody"),
        },
      },
      "a wrong answer",
    ],
    [
      "an error with a secret in the wrong form",
      {
        paths: {
          "/token": (_, response) => response.writeHead(500).end("access-secret-of-somebody"),
        },
      },
      "answered with an error",
    ],
  ])("[MCP-42] fails with %s", async (_, options, reason) => {
    const { service, login } = await open(options);
    const error = await login.then(
      () => expect.fail("it succeeded"),
      (error: unknown) => String(error),
    );
    expect(error).toContain(reason);
    expect(error).not.toContain("access-secret-of-somebody");
    expect(error.length).toBeLessThan(500);
    // oxlint-disable-next-line no-control-regex -- none may be there
    expect(error).not.toMatch(/[\u0000-\u001f]/);
    expect(service.requests.length).toBeLessThan(40);
  });

  it("[MCP-42] sends headers of the config to the server alone", async () => {
    const seen: string[] = [];
    const note = (path: string) => ({
      [path]: (request: { headers: Record<string, unknown> }, response: ServerResponse) => {
        seen.push(String(request.headers["x-key"]));
        response.writeHead(404).end();
      },
    });
    const { login } = await open(
      { paths: note("/.well-known/oauth-authorization-server") },
      { headers: { "x-key": "secret" } },
    );
    await expect(login).rejects.toThrow("no metadata");
    expect(new Set(seen)).toEqual(new Set(["undefined"]));
  });

  it("[MCP-43] can be cancelled, and two at once do not meet", async () => {
    const stop = new AbortController();
    const first = await open({}, { browse: async () => stop.abort(), signal: stop.signal });
    await expect(first.login).rejects.toThrow("aborted");
    const service = await startOAuth();
    const place = { server: "guarded", url: service.resource };
    const waiting: (() => Promise<unknown>)[] = [];
    const both = [1, 2].map(() =>
      logIn({
        place,
        headers: {},
        client: null,
        signal: AbortSignal.timeout(60_000),
        onAddress: (address) => waiting.push(() => visit(address)),
      }),
    );
    await expect.poll(() => waiting.length).toBe(2);
    await Promise.all(waiting.toReversed().map((browse) => browse()));
    const [a, b] = await Promise.all(both);
    expect(a?.access_token).not.toBe(b?.access_token);
    expect(service.refused).toEqual([]);
  });
});

describe("kept logins", () => {
  it("[MCP-44] are in one file that nobody else reads, and are for one address", async () => {
    const folder = join(temporaryFolder(), "mcp");
    const logins = new Logins(folder);
    await Promise.all(
      Array.from({ length: 10 }, (_, at) => logins.keep({ ...LOGIN, server: `s${at}` })),
    );
    const file = join(folder, "logins.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ version: 1 });
    expect(await logins.read({ server: "s3", url: LOGIN.url })).toEqual({ ...LOGIN, server: "s3" });
    expect(await logins.read({ server: "s3", url: "https://other.example/mcp" })).toBeNull();
    expect(await logins.read({ server: "other", url: LOGIN.url })).toBeNull();
    expect(await logins.forget("s3")).toHaveLength(1);
    expect(await logins.read({ server: "s3", url: LOGIN.url })).toBeNull();
    expect(await logins.read({ server: "s4", url: LOGIN.url })).not.toBeNull();
    chmodSync(file, 0o644);
    expect(await logins.read({ server: "s4", url: LOGIN.url })).toBeNull();
  });
});

function endless(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  const write = (): void => {
    while (!response.destroyed && response.write("x".repeat(65_536))) {
      // until the reader has enough
    }
    response.once("drain", write);
  };
  write();
}

import { describe, expect, it, onTestFinished } from "vitest";

import type { Server } from "../../../src/mcp/configured-servers.ts";
import { logIn, scopesOf } from "../../../src/mcp/oauth/log-in.ts";
import { Logins } from "../../../src/mcp/oauth/logins.ts";
import { Servers } from "../../../src/mcp/servers.ts";
import { openMcp, resultOf } from "../../helpers/mcp.ts";
import { type OAuthOptions, startOAuth, USUAL, visit } from "../../helpers/oauth-server.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

type Service = Awaited<ReturnType<typeof startOAuth>>;

const ACT = [{ name: "guarded__act" }];

async function keepLogin(service: Service, folder: string, more: string | null = null) {
  const login = await logIn({
    place: { server: "guarded", url: service.resource },
    headers: {},
    client: null,
    more,
    signal: AbortSignal.timeout(60_000),
    onAddress: (address) => void visit(address),
  });
  await new Logins(folder).keep(login);
  return login;
}

/** The servers of one more process of the same user. */
function openServers(service: Service, folder: string) {
  const server: Server = {
    name: "guarded",
    place: { kind: "address", url: service.resource, headers: {} },
    tools: null,
    timeoutMs: 60_000,
    client: null,
    hash: "0",
    secrets: [],
  };
  const secrets: string[] = [];
  const servers = new Servers({
    servers: [server],
    unusable: [],
    problems: [],
    env: {},
    folder,
    version: "0.0.0",
    listTimeoutMs: 60_000,
    session_id: "00000000-0000-4000-8000-000000000000",
    cwd: null,
    conceal: (text) => text,
    onSecrets: (given) => secrets.push(...given.map(({ value }) => value)),
  });
  onTestFinished(() => servers.end());
  const call = async () => {
    const connection = await servers.connection(server);
    const [tool = expect.fail("no tool")] = (await connection.list()).tools;
    return resultOf(
      connection.call({
        tool,
        args: {},
        timeoutMs: 60_000,
        signal: undefined,
        onProgress: () => {},
      }),
    );
  };
  return { servers, call, secrets };
}

async function open(options: OAuthOptions = {}) {
  const service = await startOAuth(options);
  const folder = temporaryFolder();
  const login = await keepLogin(service, folder);
  return { service, folder, login };
}

describe("a server that needs a login", () => {
  it("[MCP-45] costs its tools with a notice that names the command, until there is a login", async () => {
    const service = await startOAuth();
    const bench = await openMcp({ guarded: { url: service.resource } }, { steps: ACT });
    expect((await bench.run({ text: "go" })).answer).toContain("there is no tool of this name");
    expect(bench.notices()).toEqual([
      "The MCP server guarded cannot be used, so it has no tools here: it needs a login: `reprise mcp login guarded`.",
    ]);
    await keepLogin(service, bench.folder);
    const later = await openMcp({ guarded: { url: service.resource } }, { steps: ACT });
    await keepLogin(service, later.folder);
    const { answer } = await later.run({ text: "go" });
    expect(answer).toBe("end: called with Bearer [token of guarded]");
    expect(JSON.stringify(later.server.requests())).not.toContain("access-");
    expect(later.notices()).toEqual([]);
  });

  it("[MCP-45] is not given a login if the config has its header Authorization", async () => {
    const service = await startOAuth();
    const place = { url: service.resource, headers: { authorization: "Bearer own-token" } };
    const bench = await openMcp({ guarded: place }, { steps: ACT });
    await keepLogin(service, bench.folder);
    await bench.run({ text: "go" });
    expect(bench.notices()).toEqual([expect.stringContaining("another header (401)")]);
  });
});

describe("a token that has too few rights", () => {
  it("[MCP-90] refuses the call with the command, and the next login asks for what it has and needs", async () => {
    const service = await startOAuth({ callScope: "tools:act" });
    const bench = await openMcp({ guarded: { url: service.resource } }, { steps: ACT });
    const first = await keepLogin(service, bench.folder);
    expect(first.scope).toBe("tools");
    const { answer } = await bench.run({ text: "go" });
    expect(answer).toContain("it needs a login with more rights: `reprise mcp login guarded`");
    expect(service.calls()).toBe(0);
    const [known = expect.fail()] = await new Logins(bench.folder).all();
    expect(known).toEqual({ ...first, wanted: "tools:act" });
    const more = scopesOf(known.scope, known.wanted);
    const next = await keepLogin(service, bench.folder, more);
    expect(next).toMatchObject({ scope: "tools tools:act" });
    expect(next.wanted).toBeUndefined();
    const later = await bench.run({ text: "again" });
    expect(later.answer).toBe("end: called with Bearer [token of guarded]");
    expect(service.calls()).toBe(1);
  });

  it("[MCP-90] keeps no rights that an address cannot hold, and none of a status without that error", async () => {
    expect(scopesOf("a b", undefined, "b c")).toBe("a b c");
    expect(scopesOf('a" \u001b[2J \\ d', "é")).toBe("d");
    expect(scopesOf("x".repeat(2001))).toBeNull();
    expect(scopesOf(undefined)).toBeNull();
    const value = 'Bearer error="access_denied", scope="everything"';
    const { call, folder } = await refusing(value);
    await expect(call()).rejects.toMatchObject({ data: { status: 403 } });
    expect((await new Logins(folder).all())[0]?.wanted).toBeUndefined();
  });
});

async function refusing(challenge: string) {
  const { service, folder } = await open({
    serverPaths: {
      "/mcp": (request, response, body) => {
        if (request.headers.authorization === undefined || !body.includes("tools/call")) {
          return USUAL;
        }
        response.writeHead(403, { "www-authenticate": challenge }).end();
        return undefined;
      },
    },
  });
  return { folder, call: openServers(service, folder).call };
}

describe("a token that is refused", () => {
  it("[MCP-46] is refreshed once, in the middle of an exchange, and the call runs once", async () => {
    const service = await startOAuth();
    const bench = await openMcp(
      { guarded: { url: service.resource } },
      { steps: [...ACT, ...ACT] },
    );
    const before = await keepLogin(service, bench.folder);
    let expired = false;
    const { answer } = await bench.run(
      { text: "go" },
      {
        listener: (event) => {
          bench.events.push(event);
          if (event.type === "tool_result" && !expired) {
            expired = true;
            service.expire();
          }
        },
      },
    );
    expect(expired).toBe(true);
    expect(answer).toBe("end: called with Bearer [token of guarded]");
    expect(service.calls()).toBe(2);
    expect(service.refreshes()).toBe(1);
    expect(service.refused).toEqual([]);
    const place = { server: "guarded", url: service.resource };
    const after = await new Logins(bench.folder).read(place);
    expect(after?.access_token).not.toBe(before.access_token);
    expect(JSON.stringify(bench.server.requests())).not.toContain("access-");
  });

  it("[MCP-46] is refreshed by one of several processes and calls", async () => {
    const { service, folder } = await open();
    const processes = [1, 2, 3].map(() => openServers(service, folder));
    await Promise.all(processes.map(({ call }) => call()));
    service.expire();
    await Promise.all([...processes, ...processes].map(({ call }) => call()));
    expect(service.refreshes()).toBe(1);
    expect(service.refused).toEqual([]);
  });

  it("[MCP-46] needs another login if it cannot be refreshed", async () => {
    for (const options of [{}, { noRefresh: true } as const]) {
      const { service, folder } = await open(options);
      const { servers, call } = openServers(service, folder);
      await call();
      service.forget();
      await expect(call()).rejects.toThrow("`reprise mcp login guarded`");
      const { problems } = await servers.offered();
      expect(problems).toEqual([]);
      const later = await openServers(service, folder).servers.offered();
      expect(later.problems).toEqual([expect.stringContaining("reprise mcp login guarded")]);
    }
  });

  it("[MCP-47] is not refreshed again and again for a server that accepts none", async () => {
    const service = await startOAuth({
      serverPaths: { "/mcp": (_, response) => response.writeHead(401).end() },
    });
    const folder = temporaryFolder();
    await keepLogin(service, folder);
    const { call } = openServers(service, folder);
    for (let at = 0; at < 5; at += 1) {
      await expect(call()).rejects.toThrow(/again and again|mcp login/);
    }
    // a connection refreshes once, and a server is connected three times in an exchange
    expect(service.refreshes()).toBeLessThanOrEqual(3);
  });

  it("[MCP-47] is not refreshed for each call that a server refuses", async () => {
    const { service, folder } = await open({
      serverPaths: {
        "/mcp": (_, response, body) =>
          body.includes(`"tools/call"`) ? response.writeHead(401).end() : USUAL,
      },
    });
    const { call } = openServers(service, folder);
    for (let at = 0; at < 5; at += 1) {
      await expect(call()).rejects.toThrow("reprise mcp login guarded");
    }
    expect(service.refreshes()).toBe(1);
  });

  it("[MCP-47] goes only to the endpoint of the login, whatever the server says later", async () => {
    const metadata: { token_endpoint?: string } = {};
    const elsewhere: string[] = [];
    const { service, folder } = await open({ metadata: (given) => ({ ...given, ...metadata }) });
    const other = await startOAuth({
      paths: {
        "/token": (_, response, body) => {
          elsewhere.push(body);
          response.writeHead(400).end();
        },
      },
    });
    metadata.token_endpoint = `${other.issuer}/token`;
    const { call } = openServers(service, folder);
    service.expire();
    await call();
    expect(elsewhere).toEqual([]);
    expect(service.refreshes()).toBe(1);
  });

  it.each([200, 400, 500])(
    "[MCP-47] is not quoted from an answer with the status %d that is in no form",
    async (status) => {
      let answers = "";
      const { service, folder, login } = await open({
        paths: answering(() => answers, status),
      });
      answers = `{"access_token": ${login.refresh_token}`;
      service.expire();
      const error = await openServers(service, folder)
        .call()
        .then(
          () => expect.fail("it succeeded"),
          (error: unknown) => String(error),
        );
      expect(error).toMatch(/cannot be renewed now|reprise mcp login/);
      expect(error).not.toContain("refresh-");
    },
  );
});

/** Answers with a text in the place of tokens once there is one. */
function answering(text: () => string, status: number): OAuthOptions["paths"] {
  return {
    "/token": (_, response) => {
      if (text() === "") {
        return USUAL;
      }
      response.writeHead(status, { "content-type": "application/json" }).end(text());
      return undefined;
    },
  };
}

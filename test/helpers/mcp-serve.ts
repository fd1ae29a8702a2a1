import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";

import { mcpAnswers, type McpChoices } from "../../src/cli/commands/serve/mcp-answers.ts";
import type { Catalogue } from "../../src/rules/catalogue.ts";
import type { RedactSource } from "../../src/core/redact/clean.ts";
import { owner } from "./engines.ts";
import { createDatabase } from "./database.ts";
import { openStoreAt } from "./open-store.ts";
import type { Home } from "./reprise.ts";
import { startTestServer } from "./server.ts";
import type { Store } from "../../src/store/store.ts";
import { finishExchange } from "../../src/store/checkpoints/finish.ts";
import { takeLease } from "../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../src/store/records/messages/begin-exchange.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";

export const TOKEN = "0123456789abcdef0123456789abcdef";
export const READ_TOKEN = "read-0123456789abcdef0123456789abcdef";

/** Both eras of the protocol, as the SDK's client speaks them. */
export const ERAS = ["2026-07-28", "2025-11-25"] as const;
export type Era = (typeof ERAS)[number];

/** A service with `/mcp` on a separate database, over a real socket. */
export async function startMcpService({
  token = TOKEN,
  mayWrite = false,
  redact = null,
  ...options
}: Partial<McpChoices> & {
  readonly token?: string | null;
  readonly madeToken?: string;
  readonly catalogue?: Catalogue;
  readonly redact?: RedactSource | null;
} = {}) {
  const database = await createDatabase();
  const store = await openStoreAt(database.location);
  const choices = { version: "1.2.3", mayWrite, redact };
  const t = await startTestServer({
    store,
    ...options,
    ...(token === null ? {} : { token, readToken: READ_TOKEN }),
    mcp: mcpAnswers(choices, { store, version: "1.2.3" }),
  });
  onTestFinished(async () => {
    await t[Symbol.asyncDispose]();
    await store.close();
    await database[Symbol.asyncDispose]();
  });
  return {
    ...t,
    store,
    connect: (era: Era, as: string | null = token) => connectOver(`${t.url}/mcp`, era, as),
  };
}

/** The SDK's client over HTTP. */
export async function connectOver(url: string, era: Era, token: string | null) {
  const headers: Record<string, string> =
    token === null ? {} : { authorization: `Bearer ${token}` };
  return connected(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
    era,
  );
}

/** The SDK's client of `reprise mcp serve` in a home. */
export async function connectProgram(home: Home, era: Era, args: readonly string[] = []) {
  const env = Object.fromEntries(
    Object.entries(home.environment()).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
  const transport = new StdioClientTransport({
    command: "reprise",
    args: ["mcp", "serve", ...args],
    env,
    cwd: home.project,
    stderr: "pipe",
  });
  const client = await connected(transport, era);
  return { ...client, pid: transport.pid ?? -1 };
}

async function connected(
  transport: StreamableHTTPClientTransport | StdioClientTransport,
  era: Era,
) {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode: era === "2026-07-28" ? "auto" : "legacy" } },
  );
  await client.connect(transport);
  onTestFinished(() => client.close().catch(() => undefined));
  const call = async (name: string, args: object = {}): Promise<CallToolResult> =>
    client.callTool({ name, arguments: { ...args } });
  return {
    client,
    call,
    /** The value of a call that must succeed; its text says the same. */
    value: async <Value = Json>(name: string, args: object = {}): Promise<Value> => {
      const result = await call(name, args);
      const [content] = result.content;
      const text = content?.type === "text" ? content.text : "";
      if (result.isError === true) {
        throw new Error(`${name} failed: ${text}`);
      }
      if (JSON.stringify(result.structuredContent) !== text) {
        throw new Error(`${name} gave two different values`);
      }
      return result.structuredContent as Value;
    },
    /** The error of a call that must fail. */
    error: async (name: string, args: object = {}): Promise<Json> => {
      const result = await call(name, args);
      if (result.isError !== true) {
        throw new Error(`${name} did not fail`);
      }
      return (result.structuredContent as { error: Json }).error;
    },
  };
}

// oxlint-disable-next-line typescript/no-explicit-any -- each test knows the value of its tool
export type Json = any;

/** A session with so many exchanges of one message, all of them done. */
export async function sessionWith(store: Store, contents: readonly string[]): Promise<string> {
  const { id } = await store.write(createSession, {});
  for (const content of contents) {
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    await store.write(beginExchange, { fence, content, model: "demo", persona_name: "assistant" });
    await store.write(finishExchange, { fence, thread_id: `${id}:0` });
  }
  return id;
}

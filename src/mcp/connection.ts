import {
  Client,
  type ClientOptions,
  InsufficientScopeError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";

import type { Secret } from "../core/secrets.ts";
import type { Server } from "./configured-servers.ts";
import { type GivenTool, listTools, type ToolList } from "./listed-tools.ts";
import { boundedFetch, TooLarge } from "./bounded-fetch.ts";
import {
  getPrompt,
  listPrompts,
  type ListedPrompt,
  type ListedResource,
  listResources,
  readResource,
} from "./offers.ts";
import { keepProtocol, probeTime, readProtocol } from "./known-protocol.ts";
import { loginPlace } from "./oauth/logins.ts";
import { Tokens } from "./oauth/tokens.ts";
import { pagesOf } from "./pages.ts";
import { MAX_MESSAGE_BYTES, type Program, ProgramTransport } from "./program-transport.ts";
import { LoginNeeded, SessionGone } from "./reasons.ts";
import { RunningCall, type ToolCall } from "./running-call.ts";
import { unaskedLimit } from "./unasked.ts";
import { unlessAborted } from "./unless-aborted.ts";
import { cancelTask, passTasks, pollTask, type PolledTask, TASKS, updateTask } from "./tasks.ts";

/** Makes what a server's program needs besides its command. */
export type MakeProgram = () => Omit<Program, "command" | "args">;

export interface ConnectOptions {
  readonly server: Server;
  readonly version: string;
  readonly program: MakeProgram;
  /** True if a person can be asked: the server is offered questions then. */
  readonly asks?: boolean;
  /** For the connection with the first list of tools. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Keeps logins; null for nowhere. */
  readonly folder: string | null;
  /** Gets the tokens of a login before they are sent. */
  readonly onSecrets: (secrets: readonly Secret[]) => void;
}

/** A connection to a server, with the tools that it has. */
export interface Connection {
  /** Returns the tools as they are: they are asked for again if the server says that they have changed, and now and then. */
  list(): Promise<ToolList>;
  /** Version of the protocol. */
  readonly protocol: string;
  /** False once the server has ended or closed it. */
  readonly isOpen: () => boolean;
  call(call: ToolCall): RunningCall;
  /** Asks for a task, answers what it asks, and asks the server to stop it. */
  pollTask(id: string, signal: AbortSignal | undefined): Promise<PolledTask>;
  updateTask(id: string, responses: Readonly<Record<string, unknown>>): Promise<void>;
  cancelTask(id: string): Promise<void>;
  /** Reads a resource, as `readResource`. */
  readResource(uri: string, signal: AbortSignal): Promise<string>;
  resources(signal: AbortSignal): Promise<readonly ListedResource[]>;
  prompts(signal: AbortSignal): Promise<readonly ListedPrompt[]>;
  getPrompt(
    prompt: { readonly name: string; readonly arguments: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<string>;
  /** Ends the server if it is a program. */
  close(): Promise<void>;
  /** Lets this process end, or not, while the server runs. */
  holdProcess(holds: boolean): void;
  /** Ends it at once, with its process group: for when there is no time to wait. */
  kill(): void;
}

/** Time for which a list of tools is taken for current. */
const FRESH_MS = 60_000;
const TOOLS = { pages: 20, entries: 1000 };
/** Time in which a server answers that it stops a task. */
const CANCEL_MS = 2000;

/**
 * Connects to a server and asks for its tools. Speaks the stateless protocol of 2026-07-28 if the server does, else the
 * one before it. The server can ask a person if there is one, and nothing of a model.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { server, folder, timeoutMs } = options;
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)]);
  const known = await readProtocol(folder, server);
  const probeMs = probeTime(server.place.kind, known, timeoutMs);
  try {
    const connection = await connectProbing(options, { signal, probeMs });
    if (connection.protocol !== known) {
      await keepProtocol(folder, server, connection.protocol);
    }
    return connection;
  } catch (error) {
    if (known !== null) {
      // it may be another program now, which does not answer what the one before did
      await keepProtocol(folder, server, null);
    }
    throw error;
  }
}

async function connectProbing(
  options: ConnectOptions,
  { signal, probeMs }: { readonly signal: AbortSignal; readonly probeMs: number },
): Promise<Connection> {
  try {
    return await connectAs({ mode: "auto", probe: { timeoutMs: probeMs } }, options, signal);
  } catch (error) {
    // some programs end on a request that they do not know, also if they read it late
    if (options.server.place.kind === "program" && isClosed(error) && !signal.aborted) {
      return connectAs({ mode: "legacy" }, options, signal);
    }
    throw error;
  }
}

/** The error for a server that would have another login; null for other errors, and for one that has none. */
function neededLogin(server: Server, error: unknown): LoginNeeded | null {
  const isRefused =
    error instanceof UnauthorizedError ||
    (error instanceof SdkHttpError && error.data.status === 401);
  const isShort = error instanceof InsufficientScopeError;
  return (isRefused || isShort) && loginPlace(server) !== null
    ? new LoginNeeded(server.name, isShort ? "a login with more rights" : "a login")
    : null;
}

function isSessionGone(error: unknown, transport: Transport): boolean {
  return (
    error instanceof SdkHttpError &&
    error.data.status === 404 &&
    transport instanceof StreamableHTTPClientTransport &&
    transport.sessionId !== undefined
  );
}

/** Time that a server has to end a session. */
const END_SESSION_MS = 1000;

async function endSession(transport: Transport): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    await unlessAborted(transport.terminateSession(), AbortSignal.timeout(END_SESSION_MS)).catch(
      () => undefined,
    );
  }
}

function isClosed(error: unknown): boolean {
  return (
    error instanceof SdkError &&
    (error.code === SdkErrorCode.EraNegotiationFailed ||
      error.code === SdkErrorCode.ConnectionClosed)
  );
}

async function connectAs(
  versionNegotiation: ClientOptions["versionNegotiation"],
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Connection> {
  const { server, version, timeoutMs } = options;
  const client = new Client(
    { name: "reprise", version },
    {
      capabilities: {
        extensions: { [TASKS]: {} },
        ...(options.asks === true ? { elicitation: { form: {}, url: {} } } : {}),
      },
      versionNegotiation,
      inputRequired: { autoFulfill: false },
      // a schema of a server is never compiled
      jsonSchemaValidator: {
        getValidator: () => (input) => ({
          valid: true,
          data: input as never,
          errorMessage: undefined,
        }),
      },
    },
  );
  let isOpen = true;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client has no other way
  client.onclose = () => (isOpen = false);
  const calls = new Set<RunningCall>();
  if (options.asks === true) {
    // a question does not name its call: it belongs to the one that has waited for longest
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const call = [...calls].find(({ isAsking }) => !isAsking);
      // the client's types have mutable lists
      return ((await call?.ask(params)) ?? { action: "cancel" }) as { action: "cancel" };
    });
  }
  let broken: Error | null = null;
  const breakOff = (why: Error): void => {
    broken = why;
    void close();
  };
  const transport = transportOf(options, () => breakOff(new TooLarge()));
  passTasks(
    transport,
    unaskedLimit(() => breakOff(new Error("it asks too much at once"))),
  );
  const close = async (): Promise<void> => {
    isOpen = false;
    await endSession(transport);
    await client.close().catch(() => undefined);
    await transport.close();
  };
  try {
    const asking = <Value>(work: Promise<Value>): Promise<Value> =>
      work.catch((error: unknown) => {
        if (broken !== null) {
          throw broken;
        }
        if (isSessionGone(error, transport)) {
          isOpen = false;
          throw new SessionGone();
        }
        throw neededLogin(server, error) ?? error;
      });
    await asking(unlessAborted(client.connect(transport, { timeout: timeoutMs, signal }), signal));
    const ask = async (timeout: number, until: AbortSignal): Promise<ToolList> => {
      const given = await asking(
        unlessAborted(allTools(client, { timeout, signal: until }), until),
      );
      return listTools(server.name, given, server.tools);
    };
    let asked = performance.now();
    let hasChanged = false;
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      hasChanged = true;
    });
    let list = await ask(timeoutMs, signal);
    return {
      list: async () => {
        if (hasChanged || performance.now() - asked > FRESH_MS) {
          hasChanged = false;
          list = await ask(server.timeoutMs, AbortSignal.timeout(server.timeoutMs));
          asked = performance.now();
        }
        return list;
      },
      protocol: client.getNegotiatedProtocolVersion() ?? "unknown",
      isOpen: () => isOpen,
      call: (call) => {
        const running = new RunningCall(client, call, {
          onEnd: () => calls.delete(running),
          asking,
        });
        calls.add(running);
        return running;
      },
      pollTask: (id, until) =>
        asking(pollTask(client, id, { timeoutMs: server.timeoutMs, signal: until })),
      updateTask: (id, responses) =>
        asking(
          updateTask(client, id, responses, { timeoutMs: server.timeoutMs, signal: undefined }),
        ),
      cancelTask: (id) =>
        asking(cancelTask(client, id, { timeoutMs: CANCEL_MS, signal: undefined })),
      readResource: (uri, until) =>
        asking(readResource(client, uri, { timeoutMs: server.timeoutMs, signal: until })),
      resources: (until) =>
        asking(listResources(client, { timeoutMs: server.timeoutMs, signal: until })),
      prompts: (until) =>
        asking(listPrompts(client, { timeoutMs: server.timeoutMs, signal: until })),
      getPrompt: (prompt, until) =>
        asking(getPrompt(client, prompt, { timeoutMs: server.timeoutMs, signal: until })),
      close,
      holdProcess: (holds) => {
        if (transport instanceof ProgramTransport) {
          transport.holdProcess(holds);
        }
        holdTimers(client, holds);
      },
      kill: () => transport instanceof ProgramTransport && transport.kill(),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The client's own timers of calls: it gives no other way to them. */
function holdTimers(client: Client, holds: boolean): void {
  const timers: unknown = Reflect.get(client, "_timeoutInfo");
  for (const info of timers instanceof Map ? timers.values() : []) {
    const timer: unknown = Reflect.get(Object(info), "timeoutId");
    if (timer instanceof Object && "unref" in timer) {
      // a timer of Node.js
      const { ref, unref } = timer as NodeJS.Timeout;
      (holds ? ref : unref).call(timer as NodeJS.Timeout);
    }
  }
}

function transportOf(
  { server, program, folder, signal, onSecrets }: ConnectOptions,
  onBroken: () => void,
): Transport {
  const { place } = server;
  if (place.kind === "program") {
    const { command, args } = place;
    return new ProgramTransport({ command, args, ...program() });
  }
  const login = folder === null ? null : loginPlace(server);
  const tokens =
    login === null || folder === null
      ? null
      : new Tokens({ folder, place: login, signal, onSecrets });
  const fetchBounded = boundedFetch(MAX_MESSAGE_BYTES, onBroken);
  return new StreamableHTTPClientTransport(new URL(place.url), {
    requestInit: { headers: { ...place.headers } },
    fetch: tokens?.watched(fetchBounded) ?? fetchBounded,
    reconnectionScheduler: reconnectLater,
    ...(tokens === null ? {} : { authProvider: tokens }),
  });
}

/** Time before a stream is opened again that has ended without its answer, whatever its server asks for (`retry`). */
const RECONNECT_MS = { min: 1000, max: 60_000 };

/** Returns the time in ms after which a stream is opened again. */
export function reconnectMs(asked: number): number {
  return Math.min(Math.max(asked, RECONNECT_MS.min), RECONNECT_MS.max);
}

function reconnectLater(reconnect: () => void, delayMs: number): () => void {
  // a call has a timer that holds the process
  const timer = setTimeout(reconnect, reconnectMs(delayMs)).unref();
  return () => clearTimeout(timer);
}

async function allTools(
  client: Client,
  options: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<readonly GivenTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) {
    return [];
  }
  return pagesOf(TOOLS, async (params) => {
    // with a cursor, the client sends one request
    const given = await client.request({ method: "tools/list", params }, options);
    return { entries: given.tools, nextCursor: given.nextCursor };
  });
}

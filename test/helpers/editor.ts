import {
  client,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  ndJsonStream,
  type NewSessionRequest,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { onTestFinished } from "vitest";

import type { Running } from "./process.ts";
import type { Home } from "./reprise.ts";

export interface EditorOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Capabilities of the client; none by default. */
  readonly capabilities?: object;
  /** Answers a permission; without it, the test answers none. */
  readonly onPermission?: (
    asked: RequestPermissionRequest,
    signal: AbortSignal,
  ) => string | null | Promise<string | null>;
  readonly onForm?: (asked: CreateElicitationRequest) => CreateElicitationResponse;
}

/** An editor: the client of the SDK, with its own `reprise acp`. */
export interface Editor {
  readonly running: Running;
  readonly request: ClientContext["request"];
  readonly notify: ClientContext["notify"];
  /** What it was sent so far, of one session or of all. */
  updates(sessionId?: string): readonly SessionUpdate[];
  /** Waits until an update of a session passes. */
  until(isIt: (update: SessionUpdate) => boolean): Promise<SessionUpdate>;
  /** Permissions that it was asked for. */
  readonly asked: readonly RequestPermissionRequest[];
  /** The same in words: texts by role, calls with their status. */
  transcript(sessionId?: string): string[];
  /** Begins a session in the home's project. */
  begin(place?: Partial<NewSessionRequest>): Promise<string>;
  prompt(sessionId: string, text: string): ReturnType<typeof promptOf>;
  /** Closes its standard input and waits for the process. */
  leave(): Promise<void>;
}

export async function startEditor(home: Home, options: EditorOptions = {}): Promise<Editor> {
  const running = home.start(["acp", ...(options.args ?? [])], { env: options.env ?? {} });
  const { child } = running;
  const received: { readonly sessionId: string; readonly update: SessionUpdate }[] = [];
  const asked: RequestPermissionRequest[] = [];
  let changed = Promise.withResolvers<void>();
  const app = client({ name: "test" })
    .onNotification("session/update", ({ params }) => {
      received.push(params);
      const { resolve } = changed;
      changed = Promise.withResolvers();
      resolve();
    })
    .onRequest("session/request_permission", async ({ params, signal }) => {
      asked.push(params);
      const optionId = (await options.onPermission?.(params, signal)) ?? null;
      const outcome: RequestPermissionResponse["outcome"] =
        optionId === null ? { outcome: "cancelled" } : { outcome: "selected", optionId };
      return { outcome };
    })
    .onRequest(
      "elicitation/create",
      ({ params }) => options.onForm?.(params) ?? { action: "cancel" },
    );
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) {
    throw new Error("the process has no pipes");
  }
  let isOpen = true;
  const input = new ReadableStream<Uint8Array>({
    start: (controller) => {
      stdout.on("data", (text: string) => isOpen && controller.enqueue(Buffer.from(text)));
      stdout.on("end", () => isOpen && controller.close());
    },
    cancel: () => {
      isOpen = false;
    },
  });
  const output = new WritableStream<Uint8Array>({ write: (bytes) => void stdin.write(bytes) });
  const connection = app.connect(ndJsonStream(output, input));
  onTestFinished(() => connection.close());
  const { agent } = connection;
  await agent.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: options.capabilities ?? {},
  });
  const updates = (sessionId?: string) =>
    received
      .filter((each) => sessionId === undefined || each.sessionId === sessionId)
      .map(({ update }) => update);
  return {
    running,
    request: agent.request.bind(agent),
    notify: agent.notify.bind(agent),
    updates,
    until: async (isIt) => {
      for (let from = 0; ;) {
        const next = changed.promise;
        const found = received.slice(from).find(({ update }) => isIt(update));
        if (found !== undefined) {
          return found.update;
        }
        from = received.length;
        await next;
      }
    },
    asked,
    transcript: (sessionId) => transcriptOf(updates(sessionId)),
    begin: async (place = {}) => {
      const { sessionId } = await agent.request("session/new", {
        cwd: home.project,
        mcpServers: [],
        ...place,
      });
      return sessionId;
    },
    prompt: (sessionId, text) => promptOf(agent, sessionId, text),
    leave: async () => {
      stdin.end();
      await running.finished;
    },
  };
}

function promptOf(agent: ClientContext, sessionId: string, text: string) {
  return agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
}

const SPEAKERS = {
  user_message_chunk: "user",
  agent_message_chunk: "agent",
  agent_thought_chunk: "thought",
} as const;

/** Texts that come after each other with the same id are one. */
function transcriptOf(updates: readonly SessionUpdate[]): string[] {
  const lines: { id: string; text: string }[] = [];
  const add = (id: string, text: string, isPiece = false): void => {
    const last = lines.at(-1);
    if (isPiece && last?.id === id) {
      last.text += text;
    } else {
      lines.push({ id, text });
    }
  };
  for (const update of updates) {
    switch (update.sessionUpdate) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk": {
        const { content, messageId } = update;
        const who = SPEAKERS[update.sessionUpdate];
        const text = content.type === "text" ? content.text : content.type;
        const id = `${who} ${messageId ?? ""}`;
        add(id, lines.at(-1)?.id === id ? text : `${who}: ${text}`, true);
        break;
      }
      case "tool_call":
        add(update.toolCallId, `call: ${update.title}`);
        break;
      case "tool_call_update":
        if (update.status !== undefined && update.status !== null) {
          add(update.toolCallId, `${update.status}: ${update.toolCallId}`);
        }
        break;
      default:
        break;
    }
  }
  return lines.map(({ text }) => text);
}

import type {
  Client,
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
} from "@modelcontextprotocol/client";

import { oneLine } from "../core/text/terminal-text.ts";

/** Name of the extension of the protocol with which a server answers a call with a task. */
export const TASKS = "io.modelcontextprotocol/tasks";
/** Holds the task in the result that the client is given. */
export const TASK_RESULT = "reprise/task";

/** A long call that a server works on, as it was last seen. */
export interface Task {
  readonly id: string;
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  /** Line of the server; empty for none. */
  readonly message: string;
  readonly pollMs: number;
}

/** A task as the server was asked for it, with what its status brings. */
export interface PolledTask extends Task {
  readonly requests: Readonly<Record<string, unknown>>;
  readonly result: unknown;
}

const STATUSES = ["working", "input_required", "completed", "failed", "cancelled"] as const;
const MAX_ID = 1000;
const MAX_MESSAGE = 200;
/** Times between two requests: without a word of the server, at least, and at most. */
const POLL_MS = { default: 1000, min: 50, max: 60_000 };

/** Returns a task of a server; null for anything else. */
export function readTask(value: unknown): Task | null {
  const id = member(value, "taskId");
  const status = STATUSES.find((each) => each === member(value, "status"));
  if (typeof id !== "string" || id === "" || id.length > MAX_ID || status === undefined) {
    return null;
  }
  const message = member(value, "statusMessage");
  const poll = member(value, "pollIntervalMs");
  const pollMs = typeof poll === "number" && poll > 0 ? poll : POLL_MS.default;
  return {
    id,
    status,
    message: typeof message === "string" ? oneLine(message.slice(0, MAX_MESSAGE)) : "",
    pollMs: Math.min(POLL_MS.max, Math.max(POLL_MS.min, pollMs)),
  };
}

/**
 * Lets tasks through to the client, which takes no result of another kind: the task is put into an empty result of the
 * kind that it takes. What `accepts` refuses is dropped.
 */
export function passTasks(
  transport: Transport,
  accepts: (message: JSONRPCMessage) => boolean,
): void {
  let receive: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => receive,
    set: (given: Transport["onmessage"]) => {
      receive =
        given === undefined
          ? undefined
          : (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
              if (accepts(message)) {
                given(withTask(message), extra);
              }
            };
    },
  });
}

function withTask<Message>(message: Message): Message {
  const result = member(message, "result");
  return member(result, "resultType") === "task"
    ? {
        ...message,
        result: { resultType: "complete", content: [], _meta: { [TASK_RESULT]: result } },
      }
    : message;
}

/** Takes any result: who uses it checks it. */
const ANY = {
  "~standard": { version: 1, vendor: "reprise", validate: (value: unknown) => ({ value }) },
} as const;

interface Asking {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Asks for a task. Rejects as a call does, and for an answer that is none. */
export async function pollTask(client: Client, id: string, asking: Asking): Promise<PolledTask> {
  const given: unknown = await ask(client, "tasks/get", { taskId: id }, asking);
  const task = readTask(given);
  if (task === null) {
    throw new Error("it answered with something else than a task");
  }
  const requests = member(given, "inputRequests");
  const isMap = typeof requests === "object" && requests !== null && !Array.isArray(requests);
  return {
    ...task,
    id,
    requests: isMap ? { ...requests } : {},
    result: member(given, task.status === "failed" ? "error" : "result"),
  };
}

/** Answers what a task asks. */
export async function updateTask(
  client: Client,
  id: string,
  inputResponses: Readonly<Record<string, unknown>>,
  asking: Asking,
): Promise<void> {
  await ask(client, "tasks/update", { taskId: id, inputResponses }, asking);
}

/** Asks the server to stop a task. Whether it does is the server's. */
export async function cancelTask(client: Client, id: string, asking: Asking): Promise<void> {
  await ask(client, "tasks/cancel", { taskId: id }, asking);
}

function ask(
  client: Client,
  method: string,
  params: Readonly<Record<string, unknown>>,
  { timeoutMs: timeout, signal }: Asking,
): Promise<unknown> {
  return client.request({ method, params: { ...params } }, ANY, {
    timeout,
    ...(signal === undefined ? {} : { signal }),
  });
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

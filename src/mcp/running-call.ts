import {
  type CallToolResult,
  type Client,
  isInputRequiredResult,
} from "@modelcontextprotocol/client";

import type { Elicited } from "./elicitation.ts";
import type { ListedTool } from "./listed-tools.ts";
import { readTask, TASK_RESULT, type Task } from "./tasks.ts";

/** Next step of a call. */
export type CallStep =
  | { readonly kind: "result"; readonly result: CallToolResult }
  /** The server has stopped, and is called again with answers to these requests and its state. */
  | {
      readonly kind: "input";
      readonly requests: Readonly<Record<string, unknown>>;
      readonly state: string | null;
    }
  /** The call runs on, and waits for the answer. */
  | {
      readonly kind: "question";
      /** Counts those of the call, from 1. */
      readonly n: number;
      readonly params: unknown;
      readonly reply: (answer: Elicited) => void;
    }
  /** The server works on, and is asked for its task. */
  | { readonly kind: "task"; readonly task: Task };

export interface ToolCall {
  readonly tool: ListedTool;
  readonly args: Readonly<Record<string, unknown>>;
  /** Time for the server alone: that of a question does not count. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (progress: Progress) => void;
  /** Input with which a server that has stopped is called again. */
  readonly input?: {
    readonly responses: Readonly<Record<string, unknown>>;
    readonly state: string | null;
  };
}

export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** Questions of one call; those beyond it are cancelled. */
const MAX_QUESTIONS = 20;
/** The longest time that timers take: the client's own time-out would count while a person thinks. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

type Question = Extract<CallStep, { readonly kind: "question" }>;

interface RunningCallOptions {
  readonly onEnd: () => void;
  /** Gives the reason of a failed request its words. */
  readonly asking: <Value>(work: Promise<Value>) => Promise<Value>;
}

/** A call of a tool that a server works on. It is not bound to the exchange that began it. */
export class RunningCall {
  readonly #timeoutMs: number;
  readonly #stop = new AbortController();
  readonly #ended: Promise<CallStep>;
  #isOver = false;
  #arrived = Promise.withResolvers<Question>();
  #question: Question | null = null;
  #questions = 0;
  #leftMs: number;

  constructor(client: Client, call: ToolCall, { onEnd, asking }: RunningCallOptions) {
    this.#timeoutMs = call.timeoutMs;
    this.#leftMs = call.timeoutMs;
    this.#ended = asking(send(client, call, this.#stop.signal)).finally(() => {
      this.#isOver = true;
      onEnd();
    });
    this.#ended.catch(() => undefined);
  }

  /** True while the call waits for an answer. */
  get isAsking(): boolean {
    return this.#question !== null && !this.#isOver;
  }

  /** Takes a question that the server asks while the call runs. */
  ask(params: unknown): Promise<Elicited> {
    this.#questions += 1;
    if (this.#questions > MAX_QUESTIONS || this.#question !== null || this.#isOver) {
      return Promise.resolve({ action: "cancel" });
    }
    const replied = Promise.withResolvers<Elicited>();
    this.#question = {
      kind: "question",
      n: this.#questions,
      params,
      reply: (answer) => {
        // the time begins again: the server may have much to do with the answer
        this.#leftMs = this.#timeoutMs;
        this.#question = null;
        this.#arrived = Promise.withResolvers();
        replied.resolve(answer);
      },
    };
    this.#arrived.resolve(this.#question);
    return replied.promise;
  }

  /** Returns what comes next. Rejects with what ends the call: its time, the signal, or the server. */
  async next(signal: AbortSignal | undefined): Promise<CallStep> {
    const begun = performance.now();
    const timer = setTimeout(() => {
      this.#stop.abort(new DOMException("no answer in time", "TimeoutError"));
    }, this.#leftMs);
    const onAbort = (): void => this.#stop.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted === true) {
      onAbort();
    }
    try {
      return await Promise.race([this.#ended, this.#arrived.promise]);
    } finally {
      clearTimeout(timer);
      this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - begun));
      signal?.removeEventListener("abort", onAbort);
    }
  }
}

async function send(
  client: Client,
  { tool, args, onProgress, input }: ToolCall,
  signal: AbortSignal,
): Promise<CallStep> {
  const again =
    input === undefined
      ? {}
      : {
          inputResponses: input.responses,
          ...(input.state === null ? {} : { requestState: input.state }),
        };
  const given: unknown = await client.callTool(
    { name: tool.name, arguments: { ...args }, ...again },
    {
      timeout: NO_TIMEOUT_MS,
      toolDefinition: { name: tool.name, inputSchema: { type: "object" } },
      onprogress: onProgress,
      allowInputRequired: true,
      signal,
    },
  );
  if (isInputRequiredResult(given)) {
    const { inputRequests = {}, requestState } = given;
    return { kind: "input", requests: { ...inputRequests }, state: requestState ?? null };
  }
  // the client has checked what it returns
  const result = given as CallToolResult;
  const task = readTask(result._meta?.[TASK_RESULT]);
  return task === null ? { kind: "result", result } : { kind: "task", task };
}

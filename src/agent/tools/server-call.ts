import { setTimeout as sleep } from "node:timers/promises";

import type { RunnableConfig } from "@langchain/core/runnables";
import { isGraphBubbleUp } from "@langchain/langgraph";

import { isRepriseError } from "../../core/errors.ts";
import { visible } from "../../core/text/terminal-text.ts";
import type { Server } from "../../mcp/configured-servers.ts";
import type { Connection } from "../../mcp/connection.ts";
import { type Elicited, readElicitation } from "../../mcp/elicitation.ts";
import { resultText } from "../../mcp/result-text.ts";
import type { CallStep, RunningCall, ToolCall } from "../../mcp/running-call.ts";
import type { Servers } from "../../mcp/servers.ts";
import type { PolledTask, Task } from "../../mcp/tasks.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { beginCall, keepCall } from "../permit/tool-asking.ts";
import { askForServer } from "./server-question.ts";
import type { CallConfig, Outcome } from "./tool-result.ts";

/** A call of a server's tool, which may continue after a question or a restart. */
export interface ServerCallInput {
  readonly servers: Servers;
  readonly server: Server;
  readonly connection: Connection;
  readonly call: Omit<ToolCall, "input" | "timeoutMs" | "signal">;
  readonly config: CallConfig & RunnableConfig;
  /** Text that it kept when it ran before; null for a new one. */
  readonly kept: KeptCall | null;
  /** True if a person can be asked. */
  readonly asks: boolean;
  /** True if another process continues the exchange: then a task is not cancelled with it. */
  readonly isGivenBack: () => boolean;
  readonly onNotice: (sentence: string) => void;
}

/** Text that a call has kept, with how often it has. */
export interface KeptCall {
  readonly n: number;
  readonly text: string;
}

/** As it is kept: JSON, which any database takes. */
type Kept =
  | {
      readonly kind: "input";
      readonly requests: Readonly<Record<string, unknown>>;
      readonly state: string | null;
      /** Counts the times that the server has stopped. */
      readonly round: number;
    }
  | { readonly kind: "question" }
  | { readonly kind: "task"; readonly task: Task };

/** Characters that a call can keep: a server must not fill the database. */
const MAX_KEPT = 256 * 1024;
/** Times that a server may stop in one call, and questions that it may ask at once. */
const MAX_ROUNDS = 20;
const MAX_REQUESTS = 10;
/** Failed requests for a task, one after the other. */
const MAX_FAILED_POLLS = 5;
/** Time after which a task is left. */
const MAX_TASK_MS = 24 * 3_600_000;

function readKept({ text }: KeptCall): Kept {
  // none but `#keep` has written it
  return JSON.parse(text) as Kept;
}

/** Runs a call to its end, with what its server asks and the task that it may become. */
export class ServerCall {
  readonly #input: ServerCallInput;
  #n: number;
  #running: RunningCall | null = null;
  #round = 0;
  #isTask = false;

  constructor(input: ServerCallInput) {
    this.#input = input;
    this.#n = input.kept?.n ?? 0;
  }

  async run(): Promise<Outcome> {
    const { config } = this.#input;
    try {
      let step = await this.#first();
      while (step !== null && step.kind !== "result") {
        step = await this.#after(step);
      }
      return step === null ? unknown("it was left while its server asked") : outcomeOf(step.result);
    } catch (error) {
      if (isGraphBubbleUp(error) || isRepriseError(error)) {
        throw error;
      }
      config.signal?.throwIfAborted();
      const { isAnswer, reasonOf } = await import("../../mcp/reasons.ts");
      const reason = `the call of the MCP server ${this.#input.server.name} failed: ${visible(reasonOf(error))}`;
      if (isAnswer(error) && !this.#isTask) {
        throw refusal(reason);
      }
      return unknown(reason);
    }
  }

  /** Null if nobody knows how the call continues. */
  async #first(): Promise<CallStep | null> {
    const { kept, servers, config } = this.#input;
    if (kept === null) {
      await beginCall(config);
      return this.#send();
    }
    const given = readKept(kept);
    // an exchange that stops before the next checkpoint finds it there
    await keepCall(config, kept.text, (this.#n += 1));
    if (given.kind !== "question") {
      // the step counts once more
      this.#round = given.kind === "input" ? given.round - 1 : 0;
      return given;
    }
    const held = servers.takeHeld(config.toolCall?.id ?? "");
    this.#running = held?.call ?? null;
    return held === null
      ? null
      : held.call.isAsking
        ? held.question
        : held.call.next(config.signal);
  }

  async #after(step: Exclude<CallStep, { readonly kind: "result" }>): Promise<CallStep> {
    this.#round += 1;
    if (this.#round > MAX_ROUNDS) {
      throw refusal(`the MCP server ${this.#input.server.name} asks again and again`);
    }
    switch (step.kind) {
      case "input":
        return this.#answerAndSend(step);
      case "question":
        return this.#answerHeld(step);
      case "task":
        return this.#follow(step.task);
    }
  }

  #send(input?: ToolCall["input"]): Promise<CallStep> {
    const { connection, call, server, config } = this.#input;
    const { signal } = config;
    const { timeoutMs } = server;
    const given = { ...call, timeoutMs, signal };
    this.#running = connection.call(input === undefined ? given : { ...given, input });
    return this.#running.next(signal);
  }

  async #keep(kept: Kept): Promise<void> {
    const text = JSON.stringify(kept);
    if (text.length > MAX_KEPT) {
      throw refusal(`the MCP server ${this.#input.server.name} asks for too much at once`);
    }
    this.#n += 1;
    await keepCall(this.#input.config, text, this.#n);
  }

  /** The server has stopped: it is called again, with the answers. */
  async #answerAndSend({
    requests,
    state,
  }: Extract<CallStep, { readonly kind: "input" }>): Promise<CallStep> {
    const { config } = this.#input;
    await this.#keep({ kind: "input", requests, state, round: this.#round });
    const responses = await this.#responses(requests, `round ${this.#round}`);
    await beginCall(config);
    return this.#send({ responses, state });
  }

  /** The server waits for the answer: its call runs on while the exchange waits for a person. */
  async #answerHeld(step: Extract<CallStep, { readonly kind: "question" }>): Promise<CallStep> {
    const { servers, connection, config } = this.#input;
    const call = this.#running;
    if (call === null) {
      throw refusal("the call is not running any more");
    }
    await this.#keep({ kind: "question" });
    const call_id = config.toolCall?.id ?? "";
    servers.hold(call_id, { connection, call, question: step });
    const answer = await this.#ask(step.params, { basis: `held ${step.n}`, at: step.n });
    servers.takeHeld(call_id);
    step.reply(answer);
    return call.next(config.signal);
  }

  async #responses(
    requests: Readonly<Record<string, unknown>>,
    part: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { server } = this.#input;
    const entries = Object.entries(requests);
    if (entries.length > MAX_REQUESTS) {
      throw refusal(`the MCP server ${server.name} asks for too much at once`);
    }
    if (server.place.kind === "program") {
      this.#input.servers.remember();
    }
    const responses: [string, Elicited][] = [];
    for (const [at, [key, request]] of entries.entries()) {
      if (member(request, "method") !== "elicitation/create") {
        throw refusal(`the MCP server ${server.name} asks for what it is not offered`);
      }
      const basis = JSON.stringify([part, key, request]);
      responses.push([key, await this.#ask(member(request, "params"), { basis, at: at + 1 })]);
    }
    return Object.fromEntries(responses);
  }

  async #ask(
    params: unknown,
    about: { readonly basis: string; readonly at: number },
  ): Promise<Elicited> {
    const { server, call, config, asks, onNotice } = this.#input;
    if (!asks) {
      throw refusal(`the MCP server ${server.name} asks a question, and nobody can be asked now`);
    }
    const elicitation = readElicitation(params);
    if (typeof elicitation === "string") {
      onNotice(`A question of the MCP server ${server.name} was declined: ${elicitation}.`);
      return { action: "decline" };
    }
    const { fullName: tool } = call.tool;
    return askForServer(config, { server: server.name, tool, elicitation, ...about });
  }

  /** Asks for a task until it has ended. */
  async #follow(task: Task): Promise<CallStep> {
    const { config, connection, isGivenBack, call } = this.#input;
    const { signal } = config;
    const answered: string[] = [];
    let [pollMs, failed] = [task.pollMs, 0];
    this.#isTask = true;
    await this.#keep({ kind: "task", task });
    const until = performance.now() + MAX_TASK_MS;
    try {
      for (let polls = 1; performance.now() < until; polls += 1) {
        const polled = await connection.pollTask(task.id, signal).catch(async (error: unknown) => {
          const { isAnswer } = await import("../../mcp/reasons.ts");
          failed += 1;
          if (isAnswer(error) || failed >= MAX_FAILED_POLLS || !connection.isOpen()) {
            throw error;
          }
          return null;
        });
        if (polled !== null) {
          [pollMs, failed] = [polled.pollMs, 0];
          const step = this.#endOf(polled);
          if (step !== null) {
            return step;
          }
          call.onProgress({ progress: polls, message: `${polled.status} ${polled.message}` });
          const open = Object.entries(polled.requests).filter(([key]) => !answered.includes(key));
          if (polled.status === "input_required" && open.length > 0) {
            const responses = await this.#responses(Object.fromEntries(open), "task");
            await connection.updateTask(task.id, responses);
            answered.push(...open.map(([key]) => key));
          }
        }
        await sleep(pollMs, undefined, signal === undefined ? {} : { signal });
      }
    } catch (error) {
      if (signal?.aborted === true && !isGivenBack()) {
        await connection.cancelTask(task.id).catch(() => undefined);
      }
      throw error;
    }
    throw new Error("its task did not end in a day");
  }

  /** Outcome of a task; null while it runs. */
  #endOf({ status, message, result }: PolledTask): CallStep | null {
    const { name } = this.#input.server;
    switch (status) {
      case "completed": {
        const content: unknown = member(result, "content");
        return {
          kind: "result",
          // who reads its parts checks them
          result: { ...(result as object), content: Array.isArray(content) ? content : [] },
        };
      }
      case "failed":
      case "cancelled": {
        const given = member(result, "message");
        const about = typeof given === "string" ? given.slice(0, 300) : message;
        const why = about === "" ? "" : `: ${about}`;
        throw refusal(visible(`the task of the MCP server ${name} was ${status}${why}`));
      }
      default:
        return null;
    }
  }
}

function outcomeOf(result: Extract<CallStep, { readonly kind: "result" }>["result"]): Outcome {
  const text = resultText(result);
  return result.isError === true
    ? { content: `Error: ${text}`, status: "failed" }
    : { content: text, status: "ok" };
}

/** A call that has begun, and nobody knows how it ended. */
function unknown(reason: string): Outcome {
  return {
    content: `Error: ${visible(reason)}. It may have taken effect or not; check before you repeat it.`,
    status: "unknown",
  };
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

import { digest } from "../seals.ts";
import { hasHeader, withoutThinking } from "./thinking-rules.ts";
import type { Answer, Asked, Dropped, InputUsage, Received, Usage } from "../server.ts";
import { type PartStep, piecesOf, type StopReason, type Step, stepOf } from "../steps.ts";
import { outputUsage } from "./cache.ts";
import type { ClaudeMemory } from "./memory.ts";
import { claudeModel, omitsThinking } from "./models.ts";
import { type Block, canonical, messagesBody, type MessagesBody } from "./request.ts";
import {
  after,
  droppedThoughts,
  markOfThought,
  type Prefix,
  prefixOf,
  sealThinking,
  thoughtsOf,
} from "./thinking.ts";

const STOPS: Readonly<Record<StopReason, string>> = {
  length: "max_tokens",
  refused: "refusal",
  context_full: "model_context_window_exceeded",
  paused: "pause_turn",
};

const ERRORS = {
  overloaded: "overloaded_error",
  rate_limited: "rate_limit_error",
  failed: "api_error",
};

let serial = 0;

/** An answer of the Messages API, block by block. */
export class ClaudeAnswer implements Answer {
  readonly type = "text/event-stream";
  readonly #request: MessagesBody;
  readonly #received: Received;
  readonly #steps: readonly Step[];
  readonly #memory: ClaudeMemory;
  readonly #dropped: readonly Dropped[];
  readonly #input: InputUsage;
  readonly #blocks: Record<string, unknown>[] = [];
  readonly #signatures: string[] = [];
  readonly #id: string;
  #prefix: Prefix;
  #previous: string | null;
  #open: string | null = null;
  #written = "";
  #thought = "";

  constructor({ received, steps }: Asked, memory: ClaudeMemory) {
    this.#request = messagesBody(received.body);
    this.#received = received;
    this.#steps = steps;
    this.#memory = memory;
    this.#dropped = droppedThoughts(this.#request);
    this.#input = memory.cache.read(this.#request, this.#dropped);
    this.#prefix = prefixOf(this.#request);
    this.#previous = markOfThought(thoughtsOf(this.#request).at(-1));
    this.#id = stepOf(steps, "answer_id")?.id ?? `msg_${(serial += 1)}`;
    received.dropped = this.#dropped;
  }

  begin(): string {
    const message = { ...this.#head(), content: [], stop_reason: null, usage: this.#usage(0) };
    return event("message_start", { message });
  }

  write(step: PartStep): string {
    switch (step.kind) {
      case "comment":
        return ": keep\n\n";
      case "ping":
        return event("ping", {});
      case "error": {
        const error = { type: ERRORS[step.cause], message: step.message ?? "Overloaded" };
        return event("error", { error });
      }
      case "text":
        this.#written += step.text;
        return this.#begin("text", { type: "text", text: "" }) + this.#text(step.text);
      case "reasoning":
        return this.#reasoning(step);
      case "cut_call":
        return this.#call(step.name, [step.args], undefined);
      case "call":
        return this.#call(step.name, piecesOf(step.args, step.size), step.id) + this.#close();
    }
  }

  end(): string {
    const closed = this.#close();
    const { answers } = this.#memory;
    const rest = withoutThinking(this.#blocks);
    answers.set(rest, [...(answers.get(rest) ?? []), this.#signatures]);
    if (this.#stop() === "pause_turn") {
      this.#memory.paused.add(this.#blocks.map(canonical).join());
    }
    const delta = { stop_reason: this.#stop(), stop_sequence: null };
    return (
      closed + event("message_delta", { delta, usage: this.#ended() }) + event("message_stop", {})
    );
  }

  whole(): unknown {
    return {
      ...this.#head(),
      content: this.#blocks,
      stop_reason: this.#stop(),
      usage: this.#ended(),
    };
  }

  #head(): object {
    const { model } = this.#request;
    const dropped = this.#dropped.map((one) => ({ type: "thinking_dropped", ...one }));
    const isReported = hasHeader(this.#received.headers);
    return {
      id: this.#id,
      type: "message",
      role: "assistant",
      model,
      stop_sequence: null,
      ...(isReported ? { input_transformations: dropped } : {}),
    };
  }

  #stop(): string {
    const reason = stepOf(this.#steps, "stop")?.reason;
    const isCall = this.#blocks.some(({ type }) => type === "tool_use");
    return reason === undefined ? (isCall ? "tool_use" : "end_turn") : STOPS[reason];
  }

  #begin(kind: string, block: Record<string, unknown>): string {
    if (this.#open === kind) {
      return "";
    }
    const closed = this.#close();
    this.#open = kind;
    this.#blocks.push(block);
    return closed + event("content_block_start", { index: this.#at, content_block: block });
  }

  get #at(): number {
    return this.#blocks.length - 1;
  }

  /** Ends the open block; one of thinking with its signature. */
  #close(): string {
    const block = this.#blocks.at(-1);
    if (this.#open === null || block === undefined) {
      return "";
    }
    const signed = this.#open === "thinking" ? this.#sign(block) : "";
    this.#prefix = after(this.#prefix, block);
    this.#open = null;
    return signed + event("content_block_stop", { index: this.#at });
  }

  #sign(block: Record<string, unknown>): string {
    const signature = this.#seal(String(block["thinking"]));
    block["signature"] = signature;
    return this.#delta({ type: "signature_delta", signature });
  }

  #seal(text: string): string {
    const signature = sealThinking({
      model: this.#request.model,
      serial: digest(`${(serial += 1)}`, this.#prefix.messages),
      text,
      prefix: this.#prefix,
      previous: this.#previous,
    });
    this.#previous = markOfThought({ signature });
    this.#signatures.push(signature);
    return signature;
  }

  #delta(delta: object): string {
    return event("content_block_delta", { index: this.#at, delta });
  }

  #text(text: string): string {
    const block = this.#blocks.at(-1) ?? {};
    block["text"] = `${String(block["text"])}${text}`;
    return this.#delta({ type: "text_delta", text });
  }

  #reasoning({ text, isRedacted }: Extract<PartStep, { kind: "reasoning" }>): string {
    this.#thought += text;
    if (isRedacted === true) {
      const closed = this.#close();
      const block = { type: "redacted_thinking", data: this.#seal("") };
      return closed + this.#begin("redacted", block) + this.#close();
    }
    const begun = this.#begin("thinking", { type: "thinking", thinking: "", signature: "" });
    const { thinking, model } = this.#request;
    if (
      thinking?.display === "omitted" ||
      (!thinking?.display && omitsThinking(claudeModel(model)))
    ) {
      return begun;
    }
    const block = this.#blocks.at(-1) ?? {};
    block["thinking"] = `${String(block["thinking"])}${text}`;
    return begun + this.#delta({ type: "thinking_delta", thinking: text });
  }

  #call(name: string, pieces: readonly string[], given: string | undefined): string {
    const id = given ?? `toolu_${(serial += 1)}`;
    const args = pieces.join("");
    this.#written += args;
    const block: Record<string, unknown> = { type: "tool_use", id, name, input: {} };
    const begun = this.#close() + this.#begin("call", block);
    block["input"] = objectIn(args);
    return (
      begun +
      pieces.map((partial_json) => this.#delta({ type: "input_json_delta", partial_json })).join("")
    );
  }

  #ended(): object {
    const { output, reasoning } = outputUsage(this.#written, this.#thought);
    const given = stepOf(this.#steps, "usage");
    this.#received.usage = {
      ...this.#counted(),
      output: given?.output ?? output,
      reasoning: given === undefined ? reasoning : 0,
    };
    const { usage } = this.#received;
    return {
      ...this.#usage(usage.output),
      output_tokens_details: { thinking_tokens: usage.reasoning },
    };
  }

  #counted(): InputUsage {
    const given = stepOf(this.#steps, "usage");
    return given === undefined
      ? this.#input
      : { input: given.input, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };
  }

  #usage(output_tokens: Usage["output"]): object {
    const { input, cacheRead, cacheWrite5m, cacheWrite1h } = this.#counted();
    return {
      input_tokens: input,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
      cache_creation: {
        ephemeral_5m_input_tokens: cacheWrite5m,
        ephemeral_1h_input_tokens: cacheWrite1h,
      },
      output_tokens,
    };
  }
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** The input of a call; empty if its arguments are not an object, as a client's parser may make of them what it likes. */
function objectIn(args: string): Block {
  try {
    const value: unknown = JSON.parse(args);
    return typeof value === "object" && value !== null ? (value as Block) : {};
  } catch {
    return {};
  }
}

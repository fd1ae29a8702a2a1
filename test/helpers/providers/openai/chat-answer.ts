import type { Answer, Asked, InputUsage, Received } from "../server.ts";
import { type PartStep, piecesOf, type Step, stepOf, type StopReason } from "../steps.ts";
import { type ChatBody, chatBody, type ChatCall, type ChatMemory } from "./chat-request.ts";
import { showsReasoning } from "./models.ts";
import { usageOf } from "./usage.ts";

const STOPS: Readonly<Record<StopReason, string>> = {
  length: "length",
  refused: "content_filter",
  context_full: "length",
  paused: "stop",
};

/** As OpenRouter reports the status of the provider that failed. */
const ERRORS = { overloaded: 503, rate_limited: 429, failed: 502 };

/** Format of blocks of reasoning. */
const FORMAT = "google-gemini-v1";

const sealOf = (text: string): string => Buffer.from(text).toString("base64");

let serial = 0;

/** An answer of chat completions, piece by piece. */
export class ChatAnswer implements Answer {
  readonly type = "text/event-stream";
  readonly #request: ChatBody;
  readonly #received: Received;
  readonly #steps: readonly Step[];
  readonly #memory: ChatMemory;
  readonly #input: InputUsage;
  readonly #id: string;
  readonly #calls: ChatCall[] = [];
  #content = "";
  #reasoning = "";

  constructor({ received, steps }: Asked, memory: ChatMemory) {
    this.#request = chatBody(received.body);
    this.#received = received;
    this.#steps = steps;
    this.#memory = memory;
    const { model, tools, messages } = this.#request;
    this.#input = memory.cache.read(JSON.stringify([model, tools, messages]));
    this.#id = stepOf(steps, "answer_id")?.id ?? `chatcmpl-${(serial += 1)}`;
  }

  begin(): string {
    return this.#delta({ role: "assistant", content: "" });
  }

  write(step: PartStep): string {
    switch (step.kind) {
      case "comment":
        return ": keep\n\n";
      case "ping":
        return this.#delta({ content: "" });
      case "error": {
        const error = {
          code: ERRORS[step.cause],
          message: step.message ?? "Provider returned error",
        };
        return this.#chunk([{ index: 0, delta: {}, finish_reason: "error" }], { error });
      }
      case "text":
        this.#content += step.text;
        return this.#delta({ content: step.text });
      case "reasoning":
        this.#reasoning += step.text;
        if (this.#memory.quirks.reasoningDetails) {
          return step.text === "" ? "" : this.#detail(step.text);
        }
        return showsReasoning(this.#request.model)
          ? this.#delta({ reasoning_content: step.text })
          : "";
      case "cut_call":
        return this.#call(step.name, [step.args], undefined);
      case "call":
        return this.#call(step.name, piecesOf(step.args, step.size), step.id);
    }
  }

  end(): string {
    const [first] = this.#calls;
    for (const { id } of this.#calls) {
      this.#memory.reasoning.set(id, this.#reasoning);
      if (this.#memory.quirks.reasoningDetails) {
        this.#memory.details.set(id, JSON.stringify(this.#details()));
      }
    }
    if (first?.extra_content !== undefined) {
      this.#memory.signatures.set(first.id, JSON.stringify(first.extra_content));
    }
    const signed = this.#memory.quirks.reasoningDetails && this.#reasoning !== "";
    const usage = this.#usage();
    const isReported =
      !this.#memory.quirks.noUsage && this.#request.stream_options?.include_usage === true;
    return (
      (signed ? this.#delta({ reasoning_details: this.#lastDetails() }) : "") +
      this.#chunk([{ index: 0, delta: {}, finish_reason: this.#stop() }]) +
      (isReported ? this.#chunk([], { usage }) : "") +
      "data: [DONE]\n\n"
    );
  }

  whole(): unknown {
    const message = {
      role: "assistant",
      content: this.#content,
      ...(this.#reasoning === "" || !showsReasoning(this.#request.model)
        ? {}
        : { reasoning_content: this.#reasoning }),
      ...(this.#memory.quirks.reasoningDetails && this.#reasoning !== ""
        ? { reasoning: this.#reasoning, reasoning_details: this.#details() }
        : {}),
      ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls }),
    };
    return {
      id: this.#id,
      object: "chat.completion",
      created: 0,
      model: this.#request.model,
      choices: [{ index: 0, message, finish_reason: this.#stop() }],
      ...(this.#memory.quirks.noUsage ? {} : { usage: this.#usage() }),
    };
  }

  /** A piece of a block of reasoning, as OpenRouter streams it. */
  #detail(text: string): string {
    const detail = { type: "reasoning.text", text, format: FORMAT, index: 0 };
    return this.#delta({ reasoning: text, reasoning_details: [detail] });
  }

  /** The signature of the block comes alone, and an encrypted block after it. */
  #lastDetails(): readonly object[] {
    return [
      { type: "reasoning.text", signature: sealOf(this.#reasoning), format: FORMAT, index: 0 },
      {
        type: "reasoning.encrypted",
        data: sealOf(`${this.#reasoning}+`),
        format: FORMAT,
        index: 1,
      },
    ];
  }

  /** All blocks as one answer has them. */
  #details(): readonly object[] {
    const [block, encrypted] = this.#lastDetails();
    return this.#reasoning === "" ? [] : [{ ...block, text: this.#reasoning }, encrypted ?? {}];
  }

  #stop(): string {
    const reason = stepOf(this.#steps, "stop")?.reason;
    return reason === undefined ? (this.#calls.length > 0 ? "tool_calls" : "stop") : STOPS[reason];
  }

  #call(name: string, pieces: readonly string[], given: string | undefined): string {
    const id = given ?? `call_00_${(serial += 1)}`;
    const index = this.#memory.quirks.noIndex ? {} : { index: this.#calls.length };
    const signature = { google: { thought_signature: sealOf(`${id} ${this.#reasoning}`) } };
    const isSigned = this.#memory.quirks.signsCalls && this.#calls.length === 0;
    const extra = isSigned ? { extra_content: signature } : {};
    const made = { name, arguments: pieces.join("") };
    this.#calls.push({ id, type: "function", function: made, ...extra });
    const begun = { ...index, id, type: "function", function: { name, arguments: "" }, ...extra };
    const chunks = pieces.map((piece) => ({ ...index, function: { arguments: piece } }));
    return [begun, ...chunks].map((chunk) => this.#delta({ tool_calls: [chunk] })).join("");
  }

  #delta(delta: Readonly<Record<string, unknown>>): string {
    const { quirks } = this.#memory;
    const sent = "role" in delta && "role" in quirks ? { ...delta, role: quirks.role } : delta;
    const counted = quirks.countsAlways ? { usage: this.#usage() } : {};
    return this.#chunk([{ index: 0, delta: sent, finish_reason: null }], counted);
  }

  #chunk(choices: readonly object[], more: object = {}): string {
    const { model } = this.#request;
    const chunk = { id: this.#id, object: "chat.completion.chunk", created: 0, model, choices };
    return `data: ${JSON.stringify({ ...chunk, ...more })}\n\n`;
  }

  #usage(): object {
    const args = this.#calls.map((call) => call.function.arguments).join("");
    const written = { text: this.#content + args, reasoning: this.#reasoning };
    const counted = usageOf(this.#steps, this.#input, written);
    this.#received.usage = counted;
    const input = counted.input + counted.cacheRead;
    return {
      prompt_tokens: input,
      completion_tokens: counted.output,
      total_tokens: input + counted.output,
      prompt_tokens_details: { cached_tokens: counted.cacheRead },
      completion_tokens_details: { reasoning_tokens: counted.reasoning },
    };
  }
}

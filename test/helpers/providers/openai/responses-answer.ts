import type { Answer, Asked, InputUsage, Received } from "../server.ts";
import { type PartStep, piecesOf, type Step, stepOf } from "../steps.ts";
import {
  droppedReasoning,
  encrypt,
  firstPrefix,
  type Item,
  itemsOf,
  prefixAfter,
  responsesBody,
  type ResponsesBody,
  type ResponsesMemory,
} from "./responses-request.ts";
import { usageOf } from "./usage.ts";

let serial = 0;

/** An item while it is written. */
interface Open {
  readonly kind: "message" | "reasoning";
  readonly item: Record<string, unknown>;
  text: string;
}

/** An answer of the Responses API, item by item. */
export class ResponsesAnswer implements Answer {
  readonly type = "text/event-stream";
  readonly #request: ResponsesBody;
  readonly #received: Received;
  readonly #steps: readonly Step[];
  readonly #memory: ResponsesMemory;
  readonly #input: InputUsage;
  readonly #dropped: readonly Item[];
  readonly #id: string;
  readonly #output: Item[] = [];
  #prefix: string;
  #open: Open | null = null;
  #number = 0;
  #written = "";
  #thought = "";

  constructor({ received, steps }: Asked, memory: ResponsesMemory) {
    this.#request = responsesBody(received.body);
    this.#received = received;
    this.#steps = steps;
    this.#memory = memory;
    this.#id = stepOf(steps, "answer_id")?.id ?? `resp_${(serial += 1)}`;
    this.#dropped = droppedReasoning(this.#request, memory);
    received.dropped = this.#dropped.map(({ id = "" }) => ({
      path: id,
      reason: "prefix_mismatch",
    }));
    const items = itemsOf(this.#request, memory);
    this.#prefix = items.reduce(prefixAfter, firstPrefix(this.#request));
    const { model, instructions, tools } = this.#request;
    const seen = items.filter((item) => !this.#dropped.includes(item));
    this.#input = memory.cache.read(JSON.stringify([model, tools, instructions, seen]));
  }

  begin(): string {
    const response = this.#response("in_progress");
    return (
      this.#event("response.created", { response }) +
      this.#event("response.in_progress", { response })
    );
  }

  write(step: PartStep): string {
    switch (step.kind) {
      case "comment":
        return ": keep\n\n";
      case "ping":
        return this.#event("keepalive", {});
      case "error":
        return this.#error(step);
      case "text":
        return this.#text(step.text);
      case "reasoning":
        return this.#reasoning(step.text);
      case "cut_call":
        return this.#call(step.name, [step.args], undefined).begun;
      case "call": {
        const { begun, ended } = this.#call(step.name, piecesOf(step.args, step.size), step.id);
        return begun + ended;
      }
    }
  }

  end(): string {
    const closed = this.#close();
    const { status } = endingOf(this.#steps);
    if (this.#request.store !== false) {
      this.#store();
    }
    const response = this.whole();
    return closed + this.#event(`response.${status}`, { response });
  }

  whole(): unknown {
    const { status, why } = endingOf(this.#steps);
    const failure = { code: why, message: "The model could not answer." };
    return {
      ...this.#response(status),
      usage: this.#usage(),
      incomplete_details: status === "incomplete" ? { reason: why } : null,
      error: status === "failed" ? failure : null,
    };
  }

  #error({ cause, message = "An error occurred." }: Extract<PartStep, { kind: "error" }>): string {
    if (cause === "failed") {
      const response = { ...this.#response("failed"), error: { code: "server_error", message } };
      return this.#event("response.failed", { response });
    }
    const code = cause === "rate_limited" ? "rate_limit_exceeded" : "server_is_overloaded";
    return this.#event("error", { code, message, param: null });
  }

  /** Keeps the items, and what each of them needs. */
  #store(): void {
    let reasoning: string | null = null;
    for (const { type, id = "" } of this.#output) {
      this.#memory.stored.set(id, reasoning);
      reasoning = type === "reasoning" ? id : null;
    }
    const items = itemsOf(this.#request, this.#memory);
    this.#memory.responses.set(this.#id, [...items, ...this.#output]);
  }

  #response(status: string): object {
    const { model, instructions = null, tools = [] } = this.#request;
    const removed = this.#dropped.map(({ id }) => ({
      id,
      type: "reasoning",
      action: "removed",
      reason: "prefix_mismatch",
    }));
    return {
      id: this.#id,
      object: "response",
      created_at: 0,
      status,
      model,
      instructions,
      tools,
      output: this.#output,
      ...(removed.length === 0 ? {} : { input_transformations: removed }),
    };
  }

  #text(delta: string): string {
    this.#written += delta;
    const begun = this.#begin("message", { role: "assistant", content: [] }, "msg");
    if (this.#open !== null) {
      this.#open.text += delta;
    }
    const part = { type: "output_text", text: "", annotations: [] };
    const added = this.#part("response.content_part.added", { content_index: 0, part });
    const sent = this.#part("response.output_text.delta", { content_index: 0, delta });
    return begun + (begun === "" ? "" : added) + sent;
  }

  #reasoning(delta: string): string {
    this.#thought += delta;
    const begun = this.#begin("reasoning", { summary: [] }, "rs");
    if (this.#request.reasoning?.summary === undefined || this.#open === null) {
      return begun;
    }
    this.#open.text += delta;
    const part = { type: "summary_text", text: "" };
    const added = this.#part("response.reasoning_summary_part.added", { summary_index: 0, part });
    const sent = this.#part("response.reasoning_summary_text.delta", { summary_index: 0, delta });
    return begun + (begun === "" ? "" : added) + sent;
  }

  /** Begins an item; empty if one of its kind is open. */
  #begin(kind: Open["kind"], fields: object, prefix: string): string {
    if (this.#open?.kind === kind) {
      return "";
    }
    const closed = this.#close();
    const item = { id: `${prefix}_${(serial += 1)}`, type: kind, ...fields };
    this.#open = { kind, item: { ...item }, text: "" };
    return closed + this.#item("response.output_item.added", { ...item, status: "in_progress" });
  }

  #close(): string {
    if (this.#open === null) {
      return "";
    }
    const { kind, item, text } = this.#open;
    const ended = kind === "message" ? this.#endText(text) : this.#endSummary(text);
    if (kind === "message") {
      item["content"] = [{ type: "output_text", text, annotations: [] }];
    } else {
      item["summary"] = text === "" ? [] : [{ type: "summary_text", text }];
      const isAsked = this.#request.include?.includes("reasoning.encrypted_content");
      const id = String(item["id"]);
      item["encrypted_content"] = isAsked ? encrypt({ id, prefix: this.#prefix }) : null;
    }
    this.#open = null;
    return ended + this.#done({ ...item, status: "completed" });
  }

  #endText(text: string): string {
    const part = { type: "output_text", text, annotations: [] };
    return (
      this.#part("response.output_text.done", { content_index: 0, text }) +
      this.#part("response.content_part.done", { content_index: 0, part })
    );
  }

  #endSummary(text: string): string {
    const part = { type: "summary_text", text };
    return text === ""
      ? ""
      : this.#part("response.reasoning_summary_text.done", { summary_index: 0, text }) +
          this.#part("response.reasoning_summary_part.done", { summary_index: 0, part });
  }

  #call(name: string, pieces: readonly string[], given: string | undefined) {
    const args = pieces.join("");
    this.#written += args;
    const closed = this.#close();
    const id = `fc_${(serial += 1)}`;
    const call = { id, type: "function_call", call_id: given ?? `call_r${serial}`, name };
    const added = this.#item("response.output_item.added", { ...call, arguments: "" });
    const deltas = pieces.map((delta) =>
      this.#event("response.function_call_arguments.delta", { ...this.#at(id), delta }),
    );
    const begun = closed + added + deltas.join("");
    const whole = { ...call, arguments: args, status: "completed" };
    const all = { ...this.#at(id), arguments: args };
    const ended = this.#event("response.function_call_arguments.done", all) + this.#done(whole);
    return { begun, ended };
  }

  #done(item: Item): string {
    const sent = this.#item("response.output_item.done", item);
    this.#output.push(item);
    this.#prefix = prefixAfter(this.#prefix, item);
    return sent;
  }

  #item(type: string, item: object): string {
    return this.#event(type, { output_index: this.#output.length, item });
  }

  #part(type: string, fields: object): string {
    return this.#event(type, { ...this.#at(this.#open?.item["id"]), ...fields });
  }

  #at(item_id: unknown): object {
    return { item_id, output_index: this.#output.length };
  }

  #event(type: string, fields: object): string {
    const data = { type, sequence_number: this.#number++, ...fields };
    return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  #usage(): object {
    const written = { text: this.#written, reasoning: this.#thought };
    const counted = usageOf(this.#steps, this.#input, written);
    this.#received.usage = counted;
    const input = counted.input + counted.cacheRead;
    return {
      input_tokens: input,
      input_tokens_details: { cached_tokens: counted.cacheRead, cache_write_tokens: 0 },
      output_tokens: counted.output,
      output_tokens_details: { reasoning_tokens: counted.reasoning },
      total_tokens: input + counted.output,
    };
  }
}

interface Ending {
  readonly status: string;
  readonly why: string;
}

function endingOf(steps: readonly Step[]): Ending {
  switch (stepOf(steps, "stop")?.reason) {
    case "length":
      return { status: "incomplete", why: "max_output_tokens" };
    case "refused":
      return { status: "incomplete", why: "content_filter" };
    case "context_full":
      return { status: "failed", why: "context_length_exceeded" };
    default:
      return { status: "completed", why: "" };
  }
}

import { AIMessage, type BaseMessage } from "@langchain/core/messages";

import {
  type CallEnd,
  type CallRecord,
  MAX_COUNTED_TOKENS,
  NO_COUNTS,
  TOKEN_KINDS,
  type TokenCounts,
} from "../../core/cost/model-calls.ts";
import type { ModelFacts } from "../../rules/models/facts.ts";
import { priceOfCounts } from "../../rules/models/price.ts";
import { countOf } from "../../store/records/messages/mirror-row.ts";
import { endOf, type ModelApi } from "./answer-end.ts";

interface MeteredCall {
  /** As `provider:model`. */
  readonly model: string;
  readonly facts: Pick<ModelFacts, "price" | "priceFrom">;
  readonly ended: CallEnd;
}

/** Hears what the provider reports of one request, piece by piece. */
export class CallMeter {
  #counts: TokenCounts = NO_COUNTS;
  #end: CallEnd = "whole";
  #hasBegun = false;

  /** Hears a piece of the answer. */
  hear(api: ModelApi, message: BaseMessage): void {
    this.#hasBegun = true;
    if (AIMessage.isInstance(message) && message.usage_metadata !== undefined) {
      const counts = countsIn(message);
      // Anthropic's first piece counts nothing that is written
      const isLast = api !== "anthropic" || "stop_reason" in message.additional_kwargs;
      const heard = isLast ? counts : { ...counts, output: null };
      this.#counts = withCounts(this.#counts, heard, api === "anthropic" ? added : Math.max);
    }
    this.#hearEnd(message);
  }

  /** Takes the whole answer of a model whose pieces were not heard. */
  take(answer: BaseMessage | undefined): void {
    if (this.#hasBegun || answer === undefined) {
      return;
    }
    this.#hasBegun = true;
    this.#counts = AIMessage.isInstance(answer) ? countsIn(answer) : NO_COUNTS;
    this.#hearEnd(answer);
  }

  /** True once the provider has sent something of an answer. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** How the answer ended, as its provider reported it. */
  get end(): CallEnd {
    return this.#end;
  }

  /** The request as it is stored, at the price of now. */
  record({ model, facts, ended }: MeteredCall): CallRecord {
    const price_micros = priceOfCounts(facts, this.#counts);
    const price_table = price_micros === null ? null : facts.priceFrom;
    return { ...this.#counts, model, price_micros, price_table, ended };
  }

  #hearEnd(message: BaseMessage): void {
    const { end } = endOf(message);
    if (end !== "whole" && end !== "broken") {
      this.#end = end;
    }
  }
}

function countsIn({ usage_metadata: usage, response_metadata }: AIMessage): TokenCounts {
  const written = countOf(usage?.input_token_details?.cache_creation);
  const forAnHour = Math.min(written ?? 0, countOf(hourIn(response_metadata)) ?? 0);
  return {
    input: countOf(usage?.input_tokens),
    cache_read: countOf(usage?.input_token_details?.cache_read),
    cache_write_5m: written === null ? null : written - forAnHour,
    cache_write_1h: written === null ? null : forAnHour,
    output: countOf(usage?.output_tokens),
    reasoning: countOf(usage?.output_token_details?.reasoning),
  };
}

/** Tokens that Anthropic wrote to the cache for an hour: LangChain keeps it beside its own counts. */
function hourIn(metadata: Readonly<Record<string, unknown>>): unknown {
  return memberOf(memberOf(metadata["usage"], "cache_creation"), "ephemeral_1h_input_tokens");
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Takes the counts of a later piece, which may have only some of them. */
function withCounts(
  before: TokenCounts,
  after: TokenCounts,
  both: (old: number, fresh: number) => number,
): TokenCounts {
  const counts = TOKEN_KINDS.map((kind) => {
    const [old, fresh] = [before[kind], after[kind]];
    return [kind, old === null || fresh === null ? (old ?? fresh) : both(old, fresh)] as const;
  });
  return Object.fromEntries(counts) as Record<(typeof TOKEN_KINDS)[number], number | null>;
}

/** Sums pieces that each count what they add; those of other APIs count all so far. */
function added(old: number, fresh: number): number {
  return Math.min(old + fresh, MAX_COUNTED_TOKENS);
}

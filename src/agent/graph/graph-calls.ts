import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";

import type { CallEnd } from "../../core/cost/model-calls.ts";
import { isRepriseError } from "../../core/errors.ts";
import { type ModelFacts, modelFacts } from "../../rules/models/facts.ts";
import type { CallLedger } from "../call-ledger.ts";
import { CallMeter } from "../models/call-meter.ts";
import { textIn } from "../models/answer-end.ts";
import type { CallbackParameters } from "../messages/token-stream.ts";

/** A model that a graph calls, by the names that LangChain's clients have for it. */
export interface CalledModel {
  readonly name: string;
  /** Facts of the table of models about it. */
  readonly facts: Pick<ModelFacts, "price" | "priceFrom">;
}

export function calledModel(
  metadata: CallbackParameters<"handleChatModelStart">[6] | undefined,
): CalledModel {
  const provider = textIn(metadata, "ls_provider") ?? "unknown";
  const name = `${provider}:${textIn(metadata, "ls_model_name") ?? "unknown"}`;
  try {
    return { name, facts: modelFacts(name, { overrides: {}, contextTokens: null }) };
  } catch (error) {
    if (isRepriseError(error, "model_unknown")) {
      return { name, facts: { price: null, priceFrom: null } };
    }
    throw error;
  }
}

/** Keeps the requests of a graph's models that were answered. */
export class CallRecorder extends BaseCallbackHandler {
  readonly name = "reprise_calls";
  override awaitHandlers = true;
  override ignoreAgent = true;
  override ignoreChain = true;
  override ignoreRetriever = true;
  override ignoreCustomEvent = true;
  readonly #calls: Pick<CallLedger, "add">;
  /** By their runs. */
  readonly #running = new Map<string, { readonly model: CalledModel; hasBegun: boolean }>();

  constructor(calls: Pick<CallLedger, "add">) {
    super();
    this.#calls = calls;
  }

  override handleChatModelStart(
    ...[, , runId, , , , metadata]: CallbackParameters<"handleChatModelStart">
  ): void {
    this.#running.set(runId, { model: calledModel(metadata), hasBegun: false });
  }

  override handleLLMNewToken(...[, , runId]: CallbackParameters<"handleLLMNewToken">): void {
    const running = this.#running.get(runId);
    if (running !== undefined) {
      running.hasBegun = true;
    }
  }

  override handleLLMEnd({ generations }: LLMResult, runId: string): void {
    const [generation] = generations[0] ?? [];
    const message: unknown = Reflect.get(generation ?? {}, "message");
    this.#end(runId, AIMessage.isInstance(message) ? message : null, "whole");
  }

  override handleLLMError(_error: unknown, runId: string): void {
    if (this.#running.get(runId)?.hasBegun === true) {
      this.#end(runId, null, "failed");
    }
    this.#running.delete(runId);
  }

  #end(runId: string, answer: AIMessage | null, ended: CallEnd): void {
    const running = this.#running.get(runId);
    if (running === undefined) {
      return;
    }
    this.#running.delete(runId);
    const { name: model, facts } = running.model;
    const meter = new CallMeter();
    meter.take(answer ?? undefined);
    this.#calls.add(meter.record({ model, facts, ended }));
  }
}

import { setTimeout as sleep } from "node:timers/promises";

import type { BaseMessage } from "@langchain/core/messages";

import type { CallEnd } from "../core/cost/model-calls.ts";
import { newId } from "../core/ids.ts";
import type { ModelConfig } from "../rules/models/config.ts";
import { parseModelName } from "../rules/models/name.ts";
import type { Report } from "../exchange/report-events.ts";
import type { CallLedger } from "./call-ledger.ts";
import type { Prepared } from "./exchange-context.ts";
import { CallMeter } from "./models/call-meter.ts";
import type { AnsweringModel } from "./answering-model.ts";
import { failureReason, modelFailure } from "./models/failure.ts";
import { isLongWait, mayRepeat, readProviderError } from "./models/provider-error.ts";
import type { ProviderPauses } from "./models/provider-pause.ts";

/** One call of a model, which may take several attempts. */
export interface ModelCall<Answer> {
  /** The id that the answer has to get. Without it each attempt gets a new one. */
  readonly id?: string | undefined;
  /** The model that is asked. */
  readonly model: Pick<AnsweringModel, "modelName" | "keyless" | "facts">;
  /** Messages that the model is sent. */
  readonly sent: readonly BaseMessage[];
  /** Ends the call, also while it waits for the next attempt. */
  readonly signal: AbortSignal | undefined;
  /** Makes one attempt to get the answer with this id. The meter has to hear what arrives of it. */
  readonly ask: (id: string, meter: CallMeter) => Promise<Answer>;
}

/**
 * Asks a model, and asks it again if the attempt failed with a transient error. The clients of the
 * providers repeat nothing themselves. Throws the last attempt's error as `modelFailure` makes it, the only place that
 * has the provider's own, or the signal's reason.
 *
 * Error codes: `call_limit_reached`, `budget_reached`, `price_limit_reached`, `model_*`.
 */
export type CallModel = <Answer>(call: ModelCall<Answer>) => Promise<Answer>;

export interface CallModelOptions {
  readonly models: Pick<ModelConfig, "retries" | "retryDelayMs">;
  readonly prepared: Pick<Prepared, "scrub">;
  /** Called before each call, once for all its attempts; rejects if there may be no more. */
  readonly mayCall: () => Promise<void>;
  readonly pauses: ProviderPauses;
  /** Gets each request that the provider began to answer. */
  readonly calls: Pick<CallLedger, "add" | "flush">;
  /** Called once a whole answer is counted. */
  readonly onAnswer?: () => void;
  /** True if a part of this answer was reported already. */
  readonly hasText?: (id: string) => boolean;
  /** As `textIsFinal` of `Live`. */
  readonly textIsFinal?: boolean;
  readonly report?: Report;
}

export function createCallModel(options: CallModelOptions): CallModel {
  const { models, prepared, report, mayCall, pauses, calls } = options;
  const onWait = (ms: number, reason: string): void => {
    const seconds = Math.round(ms / 1000);
    report?.({ type: "notice", sentence: `${reason}; asking it in ${seconds} s.` });
  };
  return async ({ id: fixedId, model, sent, signal, ask }) => {
    const { modelName, keyless } = model;
    const { provider } = parseModelName(modelName);
    const failure = (error: unknown, quoted: readonly BaseMessage[] | null) =>
      modelFailure(
        error,
        modelName,
        keyless,
        quoted === null ? null : { scrub: prepared.scrub, sent: quoted },
      );
    // the limits count what is stored
    await calls.flush();
    await mayCall();
    for (let attempt = 1; ; attempt += 1) {
      const id = fixedId ?? newId();
      for (const name of [modelName, provider]) {
        await pauses.over(name, signal, onWait);
      }
      const meter = new CallMeter();
      const asked = { model: modelName, facts: model.facts };
      try {
        const answer = await ask(id, meter);
        calls.add(meter.record({ ...asked, ended: meter.end }));
        options.onAnswer?.();
        return answer;
      } catch (error) {
        if (meter.hasBegun || options.hasText?.(id) === true) {
          calls.add(meter.record({ ...asked, ended: endOf(meter, signal) }));
        }
        signal?.throwIfAborted();
        const delayMs = retryDelay(error, attempt, models.retryDelayMs);
        const reason = failureReason(error, modelName, prepared.scrub);
        const ms = readProviderError(error).retryAfterMs;
        if (delayMs !== null && ms !== null) {
          pauses.keep(provider, { ms: delayMs, reason, refusal: null });
        } else if (ms !== null && isLongWait(readProviderError(error))) {
          // an hour or a day is a limit of this model; others may still answer
          // other sessions fail with it, so it has no text of the provider
          pauses.keep(modelName, { ms, reason, refusal: failure(error, null) });
        }
        // the pieces of two attempts under one id could not be distinguished
        const isMixed =
          (id === fixedId || options.textIsFinal === true) && options.hasText?.(id) === true;
        if (attempt > models.retries || delayMs === null || isMixed) {
          throw failure(error, sent);
        }
        report?.({
          type: "retry",
          message_id: id,
          attempt: attempt + 1,
          code: failure(error, null).code,
          reason,
          delay_ms: delayMs,
        });
        await calls.flush();
        await sleep(delayMs, undefined, { signal });
      }
    }
  };
}

/** How a request ended whose answer is not used. */
function endOf(meter: CallMeter, signal: AbortSignal | undefined): CallEnd {
  const isStopped = signal?.aborted === true;
  return meter.end !== "whole" ? meter.end : isStopped ? "stopped" : "failed";
}

/**
 * Milliseconds until the next attempt: what the provider asks for, else twice as long as before and
 * up to as much again by chance. Null for an error that another attempt would meet again.
 */
function retryDelay(error: unknown, attempt: number, firstMs: number): number | null {
  const found = readProviderError(error);
  if (!mayRepeat(found) || isLongWait(found)) {
    return null;
  }
  const backoffMs = firstMs * 2 ** (attempt - 1);
  return Math.round(found.retryAfterMs ?? backoffMs * (1 + Math.random()));
}

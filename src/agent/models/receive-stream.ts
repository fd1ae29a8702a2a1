import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import { raceWithSignal } from "@langchain/core/runnables";

import { RepriseError } from "../../core/errors.ts";
import type { IdleLimits } from "../../rules/models/config.ts";
import { reasoningIn } from "./arriving-reasoning.ts";
import type { ModelApi } from "./answer-end.ts";
import type { CallMeter } from "./call-meter.ts";
import type { CallOptions } from "./call-options.ts";
import { BROKEN_OFF, BrokenAnswerError, followEnd } from "./follow-end.ts";
import { gatherArguments } from "./gather-arguments.ts";
import { causes, readProviderError } from "./provider-error.ts";
import { sentTo } from "./own-answers.ts";

interface ReceiveInput {
  readonly limits: IdleLimits;
  readonly signal: AbortSignal | undefined;
  /** Begins the stream; aborting the signal has to close its connection. */
  readonly open: (signal: AbortSignal) => AsyncGenerator<ChatGenerationChunk>;
}

export interface Receiving {
  readonly api: ModelApi;
  readonly limits: IdleLimits;
  /** Closes the connection of a client that checks its signal only when something arrives. */
  readonly onAbort?: () => void;
}

/**
 * Lets a client's answers arrive as Reprise needs them: always as a stream, with the arguments of tool calls in
 * one piece (`gatherArguments`), in reply to messages that its API takes (`sentTo`), with how they ended (`followEnd`), and given up if nothing of an answer arrives for
 * too long. Comments, pings and empty pieces do not count.
 *
 * Error codes of the streams: `model_unreachable`.
 */
export function receiveStreams<Client extends BaseChatModel>(
  client: Client,
  { api, limits, onAbort }: Receiving,
): Client {
  const open = client._streamResponseChunks.bind(client);
  client._streamResponseChunks = (messages, options, runManager) =>
    gatherArguments(
      metered(
        api,
        meterIn(options),
        followEnd(
          api,
          namingBroken(
            limitIdle({
              limits,
              signal: options.signal,
              open: (signal) => {
                if (onAbort !== undefined) {
                  signal.addEventListener("abort", onAbort);
                }
                return open(sentTo(api, messages), { ...options, signal }, runManager);
              },
            }),
          ),
        ),
      ),
    );
  // a summary is asked for without listeners, which LangChain answers by a request that does not stream
  client._generate = async (messages, options, runManager) => {
    let whole: ChatGenerationChunk | undefined;
    for await (const chunk of client._streamResponseChunks(messages, options, runManager)) {
      whole = whole?.concat(chunk) ?? chunk;
    }
    return { generations: whole === undefined ? [] : [whole] };
  };
  return client;
}

/** LangChain passes the options of a call on, whatever they are. */
function meterIn(options: Partial<CallOptions> | object): CallMeter | undefined {
  return "meter" in options ? options.meter : undefined;
}

async function* metered(
  api: ModelApi,
  meter: CallMeter | undefined,
  chunks: AsyncIterable<ChatGenerationChunk>,
): AsyncGenerator<ChatGenerationChunk> {
  for await (const chunk of chunks) {
    meter?.hear(api, chunk.message);
    withoutWrongUsage(chunk.message);
    yield chunk;
  }
}

/** LangChain adds up what is not a number as 0. */
function withoutWrongUsage(message: BaseMessage): void {
  if (!AIMessageChunk.isInstance(message) || message.usage_metadata === undefined) {
    return;
  }
  const { input_tokens, output_tokens } = message.usage_metadata;
  if (!Number.isFinite(input_tokens) || !Number.isFinite(output_tokens)) {
    delete message.usage_metadata;
  }
}

/** Distinguishes a connection that breaks in the middle of an answer from one that cannot be made. */
async function* namingBroken(
  chunks: AsyncIterable<ChatGenerationChunk>,
): AsyncGenerator<ChatGenerationChunk> {
  let hasBegun = false;
  try {
    for await (const chunk of chunks) {
      hasBegun = true;
      yield chunk;
    }
  } catch (error) {
    const isBroken = hasBegun && readProviderError(error).connection !== null;
    throw isBroken || isHalfEvent(error)
      ? new BrokenAnswerError(BROKEN_OFF, "The connection broke in the middle of the answer.", {
          cause: error,
        })
      : error;
  }
}

/** True for an event of a stream that is not JSON: a connection that ended within it. */
function isHalfEvent(error: unknown): boolean {
  return causes(error).some((link) => link instanceof SyntaxError);
}

async function* limitIdle(input: ReceiveInput): AsyncGenerator<ChatGenerationChunk> {
  const idle = new AbortController();
  const signal = AbortSignal.any([idle.signal, ...(input.signal ? [input.signal] : [])]);
  const chunks = input.open(signal);
  const { limits } = input;
  const timer = createIdleTimer(limits, (error) => idle.abort(error));
  try {
    for (;;) {
      const next = await raceWithSignal(chunks.next(), signal);
      if (next.done === true) {
        signal.throwIfAborted();
        return;
      }
      timer.heard(next.value);
      yield next.value;
    }
  } catch (error) {
    // a client that was aborted may report anything
    idle.signal.throwIfAborted();
    throw error;
  } finally {
    timer.stop();
    // not awaited: a client that hangs would hold up the exchange
    void chunks.return(undefined).catch(() => undefined);
  }
}

function createIdleTimer(limits: IdleLimits, giveUp: (error: RepriseError) => void) {
  const start = (ms: number) => setTimeout(() => giveUp(idleError(ms)), ms);
  let limit = limits.beforeTextMs;
  let timer = start(limit);
  return {
    heard: (chunk: ChatGenerationChunk): void => {
      const next = limitAfter(chunk, limits);
      if (next === limit) {
        timer.refresh();
      } else if (next !== null) {
        clearTimeout(timer);
        limit = next;
        timer = start(limit);
      }
    },
    stop: (): void => clearTimeout(timer),
  };
}

/** Null for a chunk that holds nothing of an answer. */
function limitAfter(chunk: ChatGenerationChunk, limits: IdleLimits): number | null {
  const { message } = chunk;
  if (!AIMessageChunk.isInstance(message)) {
    return null;
  }
  const calls = message.tool_call_chunks ?? [];
  // a message with pieces of calls parses them to make its text
  if (calls.some(({ name, args }) => Boolean(name) || Boolean(args)) || message.text !== "") {
    return limits.afterTextMs;
  }
  return reasoningIn(chunk) === null ? null : limits.beforeTextMs;
}

function idleError(ms: number): RepriseError {
  const reason = `The model's provider sent nothing for ${Math.round(ms / 1000)} seconds`;
  return new RepriseError("model_unreachable", `${reason}. Check the network or the server.`, {
    failure: { reason, may_fall_back: true, resets_at: null },
  });
}

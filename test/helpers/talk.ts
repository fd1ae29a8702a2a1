import { randomUUID } from "node:crypto";

import { type CallStatus, factsOfCall } from "../../src/core/calls.ts";
import type { MadeCall } from "../../src/core/sessions.ts";
import type { ExchangeEvent } from "../../src/exchange/events.ts";
import type { Feed } from "../../src/exchange/live/feed.ts";
import { BUILT_IN_TOOLS } from "../../src/rules/tools/built-in.ts";
import type { Fence } from "../../src/store/records/leases/fence.ts";
import { releaseLease, takeLease } from "../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../src/store/records/messages/begin-exchange.ts";
import { mirrorMessages } from "../../src/store/records/messages/mirror.ts";
import type { MirrorMessage } from "../../src/store/records/messages/mirror-message.ts";
import type { Store } from "../../src/store/store.ts";
import { owner } from "./engines.ts";

/** A message as an agent stores it. */
export function storedMessage(
  more: Partial<MirrorMessage> & Pick<MirrorMessage, "role" | "content">,
): MirrorMessage {
  return {
    message_id: randomUUID(),
    tool_calls: null,
    token_count: 3,
    is_summary: false,
    usage: null,
    ...more,
  };
}

type WithoutIds<Event> = Event extends ExchangeEvent
  ? Omit<Event, "exchange_id" | "session_id">
  : never;

/** An exchange that a test runs by hand: what an agent would report and store, in the same way. */
export interface Talk {
  /** Takes the lease and stores the user's message. */
  begin(content: string): Promise<void>;
  hear(event: WithoutIds<ExchangeEvent>): void;
  /** A piece of the answer with this id. */
  say(message_id: string, text: string): void;
  /** Stores an answer, or a result with the call that it answers. */
  store(message: MirrorMessage): Promise<void>;
  /** Stores an answer that calls tools, and reports the calls. */
  call(content: string, calls: readonly MadeCall[]): Promise<void>;
  /** Reports lines that a call prints. */
  print(call_id: string, text: string): void;
  result(call: MadeCall, content: string, status?: CallStatus): Promise<void>;
  end(failure?: { readonly code: string; readonly sentence: string }): Promise<void>;
}

export function createTalk(store: Store, feed: Feed, session_id: string): Talk {
  let fence: Fence = { session_id, epoch: 0 };
  let run = feed.open(session_id);
  let n = 0;
  const hear = (event: WithoutIds<ExchangeEvent>): void =>
    run.heard({ ...event, exchange_id: session_id, session_id });
  const keep = async (message: MirrorMessage): Promise<void> => {
    const [stored] = await store.write(mirrorMessages, { session_id, fence, messages: [message] });
    const { message_id, role, is_summary, call_id = null } = message;
    hear({ type: "message", message_id, call_id, seq: stored?.seq ?? 0, role, is_summary });
  };
  return {
    hear,
    store: keep,
    begin: async (content) => {
      const { epoch } = await store.write(takeLease, { session_id, owner, life_ms: 3_600_000 });
      fence = { session_id, epoch };
      const exchange = { content, model: "demo:echo", persona_name: null };
      await store.write(beginExchange, { fence, ...exchange });
      run = feed.open(session_id);
      n += 1;
      run.begun({ n, epoch });
    },
    say: (message_id, text) => hear({ type: "text", message_id, text }),
    call: async (content, calls) => {
      const tool_calls = calls.map((call) => ({ ...call, ...factsOfCall(call, BUILT_IN_TOOLS) }));
      const message = storedMessage({ role: "assistant", content, tool_calls });
      await keep(message);
      for (const { id: call_id, ...call } of tool_calls) {
        hear({ type: "tool_call", message_id: message.message_id, call_id, ...call });
      }
    },
    print: (call_id, text) => run.printed({ call_id, text }),
    result: async ({ id, name, args }, content, status = "ok") => {
      const content_bytes = Buffer.byteLength(content);
      hear({
        type: "tool_result",
        call_id: id,
        name,
        ...factsOfCall({ name, args }, BUILT_IN_TOOLS),
        status,
        content,
        content_bytes,
        duration_ms: 1234,
      });
      await keep(storedMessage({ role: "tool", content, call_id: id, status }));
    },
    end: async (failure) => {
      await store.write(releaseLease, {
        fence,
        finished: failure === undefined,
        failure: failure ?? null,
      });
      hear(
        failure === undefined
          ? {
              type: "done",
              message_id: null,
              last_seq: 0,
              total_input_tokens: 0,
              total_output_tokens: 0,
            }
          : {
              type: "stopped",
              message_id: null,
              last_seq: 0,
              total_input_tokens: 0,
              total_output_tokens: 0,
            },
      );
    },
  };
}

import type { Fence } from "../../../src/store/records/leases/fence.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../../src/store/records/messages/begin-exchange.ts";
import { mirrorMessages } from "../../../src/store/records/messages/mirror.ts";
import type { Store } from "../../../src/store/store.ts";
import { owner } from "../../helpers/engines.ts";

/** Takes the lease and begins an exchange, or continues one. */
export async function begin(
  store: Store,
  session_id: string,
  content: string | null,
): Promise<Fence> {
  const { epoch } = await store.write(takeLease, { session_id, owner, life_ms: 60_000 });
  const fence = { session_id, epoch };
  await store.write(beginExchange, { fence, content, model: "demo:echo", persona_name: null });
  return fence;
}

/** Stores an answer as the saver does. */
export function storeAnswer(store: Store, fence: Fence, message_id: string, content: string) {
  return store.write(mirrorMessages, answerOf(fence, message_id, content));
}

/** An answer as the saver stores it. */
export function answerOf(fence: Fence, message_id: string, content: string) {
  return {
    session_id: fence.session_id,
    fence,
    messages: [
      {
        message_id,
        role: "assistant",
        content,
        tool_calls: null,
        token_count: 3,
        is_summary: false,
        usage: null,
      },
    ],
  } as const;
}

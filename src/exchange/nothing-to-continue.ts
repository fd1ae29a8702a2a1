import { RepriseError } from "../core/errors.ts";
import { whyUnsent } from "../store/records/exchanges/unsent.ts";
import { readWaiting } from "../store/records/messages/waiting.ts";
import type { Store } from "../store/store.ts";

/** Why a session in which no exchange and no accepted message waits cannot be continued. */
export async function nothingToContinue(store: Store, session_id: string): Promise<RepriseError> {
  const { count } = (await store.read(readWaiting, { session_id })).unaccepted;
  const sentence =
    count === 0
      ? ((await store.read(whyUnsent, session_id)) ??
        "Nothing was interrupted in this session and no message waits for the agent; send one.")
      : count === 1
        ? "The pending message was not accepted. Accept it with --accept-pending."
        : "The pending messages were not accepted. Accept them with --accept-pending.";
  return new RepriseError("nothing_to_continue", sentence);
}

/** Why a session that is not stored cannot be continued. */
export function hasNotBegun(): RepriseError {
  return new RepriseError(
    "nothing_to_continue",
    "This session has not begun, so there is nothing to continue; send a message.",
  );
}

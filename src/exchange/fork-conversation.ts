import type { Principal } from "../core/principal.ts";
import type { Session } from "../core/sessions.ts";
import { forkSession } from "../store/checkpoints/forks/fork-session.ts";
import { readSession } from "../store/records/sessions/read.ts";
import { readOrigins } from "../store/records/sessions/trees/family-tree.ts";
import type { Store } from "../store/store.ts";

/** A fork, and where it began. */
export interface ForkedConversation {
  readonly fork: Session;
  /** Its state when the fork was made. */
  readonly origin: Session;
  /** The last message of the origin that the fork has; 0 for none. */
  readonly seq: number;
}

/** Forks a session in one transaction, as `forkSession` does. */
export function forkConversation(
  store: Store,
  input: {
    readonly id: string;
    readonly at_seq: number | undefined;
    readonly principal: Principal;
  },
): Promise<ForkedConversation> {
  return store.write(async (tx, { id, at_seq, principal }) => {
    const fork = await forkSession(tx, { session_id: id, at_seq, principal });
    const origin = (await readOrigins(tx, { ids: [fork.id] })).get(fork.id);
    return { fork, origin: await readSession(tx, { id }), seq: origin?.seq ?? 0 };
  }, input);
}

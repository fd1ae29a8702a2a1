import type { JSX } from "preact";

import { ClientError, type SessionSummary } from "../../../src/entries/client.ts";
import { client } from "../../api.ts";
import { titleOf } from "../../list/state-text.ts";
import { Link } from "../../parts/Link.tsx";
import { useRead } from "../../parts/use-call.tsx";

/** Names the session that a fork continues, and after which of its messages. */
export function ForkedFrom(origin: NonNullable<SessionSummary["forked_from"]>): JSX.Element {
  const { session_id, seq } = origin;
  const { value: title } = useRead<string | null>(() => readTitle(session_id), "another session", [
    session_id,
  ]);
  return (
    <p class="session-origin muted">
      Forked from{" "}
      {title === null ? (
        "a session that was deleted"
      ) : (
        <Link to={`/sessions/${session_id}${seq === 0 ? "" : `#m${seq}`}`}>
          <bdi>{title}</bdi>
        </Link>
      )}
      , {seq === 0 ? "before its first message" : `message ${seq}`}
    </p>
  );
}

/** Null if the session was deleted. */
async function readTitle(id: string): Promise<string | null> {
  try {
    return titleOf(await client.getSession(id, { messages: false }));
  } catch (error) {
    if (error instanceof ClientError && error.code === "session_not_found") {
      return null;
    }
    throw error;
  }
}

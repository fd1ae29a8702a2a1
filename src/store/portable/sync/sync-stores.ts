import { isRepriseError, RepriseError } from "../../../core/errors.ts";
import { readSessionIds, walkSessions } from "../../records/sessions/trees/walk.ts";
import { isRefusedRow } from "../../sqlite-code.ts";
import { type Effects, NONE, type SyncDatabases, syncSession } from "./sync-session.ts";

export interface SyncedSession extends Effects {
  readonly session_id: string;
  /** Its name, else its title, before the sync; null if it has neither. */
  readonly title: string | null;
  /** Why it was skipped; null if it was not. */
  readonly code: RepriseError["code"] | null;
  readonly detail: string | null;
}

export interface SyncStores extends SyncDatabases {
  /** Called after each session, and for each sub-agent that was deleted alone. */
  readonly onSession: (session: SyncedSession) => void;
}

/**
 * Brings two databases to the same sessions, one session with its sub-agents at a time. A history that has all messages
 * of the other one and more replaces it. Of two that went apart both stay: the one that was used last keeps the id, the
 * other one is a fork of what they have in common. A session that was deleted in one of them is deleted in the other.
 * Each database stores a session in one transaction, so an interrupted run leaves whole sessions, and another run
 * continues it. Threads without a session stay.
 *
 * Error codes: `database_*` of either store. What concerns one session is reported, and the others are synced.
 */
export async function syncStores({ onSession, ...databases }: SyncStores): Promise<void> {
  const seen = new Set<string>();
  for (const side of [databases.here, databases.there]) {
    for await (const { id } of walkSessions((page) =>
      side.read(readSessionIds, { ...page, roots: true }),
    )) {
      if (!seen.has(id)) {
        seen.add(id);
        for (const synced of await syncOne(databases, id, (fork) => seen.add(fork))) {
          onSession(synced);
        }
      }
    }
  }
}

/** Times that a session is read because somebody changes it meanwhile. */
const MAX_TRIES = 3;

async function syncOne(
  databases: SyncDatabases,
  id: string,
  onFork: (fork: string) => void,
): Promise<readonly SyncedSession[]> {
  const below: SyncedSession[] = [];
  const done = { session_id: id, title: null as string | null, code: null, detail: null };
  const input = {
    ...databases,
    onFork,
    onFound: (title: string | null) => {
      done.title = title;
    },
    onDeletedBelow: (session_id: string, effects: Effects) => {
      below.push({ ...done, session_id, title: null, ...effects });
    },
  };
  try {
    let wasTaken = false;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const effects = await syncSession(input, id).catch((error: unknown) => {
        // a run in the other direction may have created the session meanwhile: both have it now, and it is compared.
        // what the last two tries found is another session
        if (isRepriseError(error, "session_exists") && !(wasTaken && tries + 1 === MAX_TRIES)) {
          return "taken" as const;
        }
        throw error;
      });
      if (effects !== null && effects !== "taken") {
        return [...below, { ...done, ...effects }];
      }
      wasTaken = effects === "taken";
    }
    throw new RepriseError(
      "session_busy",
      "The session was changed while it was compared. Run the command again.",
    );
  } catch (thrown) {
    const error = isRefusedRow(thrown) ? REFUSED_ROW : thrown;
    if (isOfOneSession(error)) {
      return [...below, { ...done, ...NONE, code: error.code, detail: error.message }];
    }
    throw error;
  }
}

const REFUSED_ROW = new RepriseError(
  "database_corrupt",
  "A database has rows of another session in the place of this one's. Check both with `reprise verify`.",
);

function isOfOneSession(error: unknown): error is RepriseError {
  return isRepriseError(
    error,
    "session_exists",
    "session_busy",
    "body_too_large",
    "export_invalid",
    "database_corrupt",
    "internal",
  );
}

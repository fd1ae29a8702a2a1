import { syncStores, type SyncedSession } from "../../../src/store/portable/sync/sync-stores.ts";
import type { SyncSide } from "../../../src/store/portable/sync/sync-session.ts";
import type { ReadOnlyStore, Store } from "../../../src/store/store.ts";

/** A store as a side of a sync; for a rehearsal one that is only read. */
function sideOf(store: Store, isDry = false): SyncSide {
  return {
    name: `the database ${store.location.slice(-20)}`,
    read: (operation, input) => store.read(operation, input),
    write: isDry ? null : (operation, input) => store.write(operation, input),
    onDeleted: () => undefined,
  };
}

/** Runs a sync between two stores, and returns what it reports. */
export async function sync(
  here: Store,
  there: Store,
  { isDry = false, ...limits }: { readonly isDry?: boolean; readonly maxBytes?: number } = {},
): Promise<SyncedSession[]> {
  const report: SyncedSession[] = [];
  await syncStores({
    here: sideOf(here, isDry),
    there: sideOf(there, isDry),
    now: new Date().toISOString(),
    ...limits,
    onSession: (each) => report.push(each),
  });
  return report;
}

/** The report without the sessions that are the same in both. */
export function changedIn(report: readonly SyncedSession[]): readonly SyncedSession[] {
  return report.filter(
    ({ here, there, code }) => here !== "none" || there !== "none" || code !== null,
  );
}

/** State that two databases have in common after a sync: each session, by its id. */
export async function sharedState(store: ReadOnlyStore): Promise<Map<string, string>> {
  const sessions = await store.read(
    ({ db }) =>
      db
        .selectFrom("sessions")
        .select([
          "id",
          "parent_session_id",
          "root_session_id",
          "state",
          "ended_at",
          "name",
          "named_at",
          "title",
          "archived_at",
          "archive_changed_at",
          "pinned_at",
          "pin_changed_at",
          "metadata_changed_at",
          "thread_suffix",
          "last_seq",
          "cleared_seq",
          "forked_from_session_id",
          "forked_from_seq",
          "total_input_tokens",
          "total_output_tokens",
        ])
        .execute(),
    null,
  );
  const messages = await store.read(
    ({ db }) =>
      db
        .selectFrom("messages")
        .select(["session_id", "seq", "message_id", "role", "content", "archived", "tool_calls"])
        .orderBy("session_id")
        .orderBy("seq")
        .execute(),
    null,
  );
  const pairs = await store.read(
    ({ db }) =>
      db
        .selectFrom("session_metadata")
        .select(["session_id", "key", "value"])
        .orderBy("session_id")
        .orderBy("key")
        .execute(),
    null,
  );
  const metadata = Map.groupBy(pairs, ({ session_id }) => session_id);
  const bySession = Map.groupBy(messages, ({ session_id }) => session_id);
  return new Map(
    sessions
      .map((row): [string, string] => [
        row.id,
        JSON.stringify([row, metadata.get(row.id) ?? [], bySession.get(row.id) ?? []]),
      ])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

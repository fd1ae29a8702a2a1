import { LISTED_COLUMNS } from "../numbered-columns.ts";

const NEXT = "(SELECT next FROM change_position)";
/** The deletion of a session must not take the highest number away. */
const TAKE_NUMBER = `UPDATE change_numbers SET last = ${NEXT};`;

/**
 * Each change gets the next number. Writers queue, so numbers are in the order of commits. The highest number
 * is that of a session, or in `change_numbers`: a message need not write another row.
 */
export const numberedChanges: readonly string[] = [
  `CREATE VIEW change_position AS SELECT number AS stable, number AS next FROM (
    SELECT max(coalesce((SELECT max(changed) FROM sessions WHERE changed > 0), 0),
      (SELECT last FROM change_numbers)) + 1 AS number)`,
  `CREATE TRIGGER sessions_created AFTER INSERT ON sessions BEGIN
    UPDATE sessions SET changed = ${NEXT}, created_change = ${NEXT} WHERE id = NEW.id;
  END`,
  // a statement that sets the number itself costs less
  `CREATE TRIGGER sessions_changed AFTER UPDATE OF ${LISTED_COLUMNS} ON sessions
    WHEN NEW.changed = OLD.changed BEGIN
    UPDATE sessions SET changed = ${NEXT} WHERE id = NEW.id;
  END`,
  `CREATE TRIGGER sessions_deleted AFTER DELETE ON sessions BEGIN
    UPDATE change_numbers SET last = max(${NEXT}, OLD.changed + 1);
    INSERT OR REPLACE INTO deleted_sessions (id, changed, deleted_at)
      SELECT OLD.id, last, strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM change_numbers;
  END`,
  ...["INSERT", "UPDATE OF value", "DELETE"].map((event) => {
    const row = event === "DELETE" ? "OLD" : "NEW";
    const name = `session_metadata_${event.slice(0, 6).toLowerCase()}`;
    return `CREATE TRIGGER ${name} AFTER ${event} ON session_metadata BEGIN
      UPDATE sessions SET changed = ${NEXT} WHERE id = ${row}.session_id;
    END`;
  }),
  ...numbered("exchanges", "state, revision", "session_id = NEW.session_id AND n = NEW.n"),
  ...numbered("questions", "state", "id = NEW.id"),
];

export const numberedPhases: readonly string[] = numbered(
  "plan_phases",
  "state, attempt",
  "session_id = NEW.session_id AND key = NEW.key",
);

export const numberedPins: readonly string[] = [
  `CREATE TRIGGER sessions_pin_changed AFTER UPDATE OF pinned_at ON sessions
    WHEN NEW.changed = OLD.changed BEGIN
    UPDATE sessions SET changed = ${NEXT} WHERE id = NEW.id;
  END`,
];

function numbered(table: string, columns: string, key: string): string[] {
  return ["INSERT", `UPDATE OF ${columns}`].map(
    (
      event,
    ) => `CREATE TRIGGER ${table}_${event.slice(0, 6).toLowerCase()} AFTER ${event} ON ${table} BEGIN
      ${TAKE_NUMBER}
      UPDATE ${table} SET changed = (SELECT last FROM change_numbers) WHERE ${key};
    END`,
  );
}

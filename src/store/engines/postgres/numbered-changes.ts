import { LISTED_COLUMNS } from "../numbered-columns.ts";

/** The number of the transaction: no lock, and the server knows which of them are not over yet. */
const NUMBER = "pg_current_xact_id()::text::bigint";

/**
 * Each change has the number of its transaction. They do not end in the order of their numbers: below `stable`
 * all have ended, and what has a number from `next` on comes from another server, by a dump.
 */
export const numberedChanges: readonly string[] = [
  `CREATE VIEW change_position AS
    SELECT pg_snapshot_xmin(now)::text::bigint AS stable, pg_snapshot_xmax(now)::text::bigint AS next
    FROM (SELECT pg_current_snapshot() AS now) AS snapshot`,
  `CREATE FUNCTION reprise_number_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.changed := ${NUMBER};
      RETURN NEW;
    END $$`,
  `CREATE FUNCTION reprise_number_creation() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.changed := ${NUMBER};
      NEW.created_change := NEW.changed;
      RETURN NEW;
    END $$`,
  // in the schema of the tables, whatever the session that deletes has set
  `CREATE FUNCTION reprise_number_deletion() RETURNS trigger LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$
    BEGIN
      INSERT INTO deleted_sessions (id, changed, deleted_at)
        VALUES (OLD.id, ${NUMBER}, to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        ON CONFLICT (id) DO UPDATE SET changed = excluded.changed, deleted_at = excluded.deleted_at;
      RETURN NULL;
    END $$`,
  `CREATE FUNCTION reprise_number_metadata() RETURNS trigger LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$
    BEGIN
      UPDATE sessions SET changed = ${NUMBER} WHERE id = coalesce(NEW.session_id, OLD.session_id);
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER sessions_created BEFORE INSERT ON sessions
    FOR EACH ROW EXECUTE FUNCTION reprise_number_creation()`,
  `CREATE TRIGGER sessions_changed BEFORE UPDATE OF ${LISTED_COLUMNS} ON sessions
    FOR EACH ROW EXECUTE FUNCTION reprise_number_change()`,
  `CREATE TRIGGER sessions_deleted AFTER DELETE ON sessions
    FOR EACH ROW EXECUTE FUNCTION reprise_number_deletion()`,
  `CREATE TRIGGER session_metadata_changed AFTER INSERT OR DELETE OR UPDATE OF value ON session_metadata
    FOR EACH ROW EXECUTE FUNCTION reprise_number_metadata()`,
  `CREATE TRIGGER exchanges_changed BEFORE INSERT OR UPDATE OF state, revision ON exchanges
    FOR EACH ROW EXECUTE FUNCTION reprise_number_change()`,
  `CREATE TRIGGER questions_changed BEFORE INSERT OR UPDATE OF state ON questions
    FOR EACH ROW EXECUTE FUNCTION reprise_number_change()`,
];

export const numberedPhases: readonly string[] = [
  `CREATE TRIGGER plan_phases_changed BEFORE INSERT OR UPDATE OF state, attempt ON plan_phases
    FOR EACH ROW EXECUTE FUNCTION reprise_number_change()`,
];

export const numberedPins: readonly string[] = [
  `CREATE TRIGGER sessions_pin_changed BEFORE UPDATE OF pinned_at ON sessions
    FOR EACH ROW EXECUTE FUNCTION reprise_number_change()`,
];

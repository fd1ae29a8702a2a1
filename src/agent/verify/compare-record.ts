import { isTime } from "../../core/time.ts";
import type { StoredRecord } from "../../store/verify/record.ts";
import { about, type Difference } from "./difference.ts";

/** Values of a session's row that are impossible. Nothing shows what they should be. */
export function compareRecord(record: StoredRecord): Difference[] {
  const parent = parentFault(record);
  return [
    ...(parent === null ? depthFindings(record) : [about("parent", parent)]),
    ...projectFindings(record),
    ...endFindings(record),
  ];
}

function parentFault({ row, parent, above }: StoredRecord): string | null {
  if (row.parent_session_id === null) {
    return row.parent_call_id === null
      ? null
      : "The session was begun by a call of its parent, and names no parent.";
  }
  if (parent === null) {
    return "The session names a parent, and there is no such session.";
  }
  if (!parent.knowsCall) {
    return "The session's parent has no call that began it.";
  }
  return above === null && row.parent_call_id === null
    ? "The session's parents go round in a circle."
    : null;
}

/** The parent's depth may be the wrong one, and so may be the one above it. */
function depthFindings({ row, parent, above }: StoredRecord): Difference[] {
  const fits =
    parent === null
      ? row.depth === 0
      : row.depth === parent.depth + 1 || above === null || row.depth === above;
  return fits ? [] : [about("depth", `depth is ${row.depth}, which does not fit its parent.`)];
}

const PROJECT_KEY = /^[0-9a-f]{16}$/;

/**
 * Whether the key is that of the folder, nobody can tell later: links change, folders move. A folder
 * without a key is right: the column was added later, and its default is none.
 */
function projectFindings({ row: { repo_path, project_key } }: StoredRecord): Difference[] {
  if (project_key !== null && !PROJECT_KEY.test(project_key)) {
    return [about("project_key", "project_key is not 16 hexadecimal digits.")];
  }
  return repo_path === null && project_key !== null
    ? [about("project_key", "project_key is set, and repo_path is not.")]
    : [];
}

function endFindings({ row: { state, ended_at } }: StoredRecord): Difference[] {
  if (ended_at !== null && !isTime(ended_at)) {
    return [about("ended_at", "ended_at is no time.")];
  }
  return (state === "ended") === (ended_at !== null)
    ? []
    : [about("ended_at", "ended_at has to be set in an ended session, and in no other.")];
}

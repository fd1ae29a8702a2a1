/** The number of the last change that a list of sessions shows. Triggers set it, in the transaction of the change. */
export type ChangeNumber = number;

/** Sessions that were deleted, for readers who do not know it yet. The first row is not one: see `forgetDeletions`. */
interface DeletedSessionTable {
  id: string;
  changed: ChangeNumber;
  deleted_at: string;
}

/** Table of one row. */
interface ChangeNumberTable {
  /** Which database the numbers are of: 8 hexadecimal digits that it got when it was made. */
  id: string;
  /** On SQLite the last number of what is not a session. */
  last: ChangeNumber;
}

/**
 * View of one row: each change below `stable` that will ever be seen is seen now, and all that are seen are below
 * `next`.
 */
interface ChangePositionView {
  stable: ChangeNumber;
  next: ChangeNumber;
}

export interface ChangeTables {
  deleted_sessions: DeletedSessionTable;
  change_numbers: ChangeNumberTable;
  change_position: ChangePositionView;
}

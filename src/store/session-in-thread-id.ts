/**
 * The id of the session that a `thread_id` could belong to, else null: what `parseThreadId` reads,
 * as SQL. Whether the session exists is for a join to find out.
 */
export const SESSION_IN_THREAD_ID = `case
    when substr(thread_id, 37, 1) = ':'
      and length(thread_id) between 38 and 46
      and ltrim(substr(thread_id, 38), '0123456789') = ''
      and (length(thread_id) = 38 or substr(thread_id, 38, 1) <> '0')
    then substr(thread_id, 1, 36) end`;

/**
 * An expression of SQL: since when the server runs, and when it last recovered from a crash, which
 * resets its statistics. Another value is another server, or one that crashed meanwhile. It is
 * evaluated in the statement that uses it: behind a pooler a connection may change its server.
 */
export const SERVER_LIFE = `concat(extract(epoch FROM pg_postmaster_start_time()), ' ',
  extract(epoch FROM (pg_stat_get_archiver()).stats_reset))`;

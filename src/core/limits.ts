/** Numbers that a user can run into, each in one place. Units are in the names. */

/** Messages that one session read returns at most. */
export const MESSAGES_PER_READ = 200;
/** Code points of the first user message that become the title. */
export const TITLE_LENGTH = 50;
/** Hex characters of the project key. */
export const PROJECT_KEY_LENGTH = 16;
/** Shortest id prefix that is looked up; shorter ones would match by accident. */
export const ID_PREFIX_LENGTH = 6;
/** Sub-agent nesting: a session that nobody delegated has depth 0. */
export const MAX_SUBAGENT_DEPTH = 3;
/** UTF-8 bytes of one message's content. */
export const MAX_CONTENT_BYTES = 1024 * 1024;
/** Bytes of a message's request body: JSON may spell one byte of content in six (`\\u0001`). */
export const MAX_BODY_BYTES = 6 * MAX_CONTENT_BYTES + 1024;
/** Bytes of every other request body: names and one path, however they are spelled. */
export const MAX_SMALL_BODY_BYTES = 64 * 1024;
/** Values in one request body: far more than any request has, far fewer than hold up the service. */
export const MAX_BODY_VALUES = 10_000;
/** Declared bytes of large request bodies that are read at once; more wait for their turn. */
export const MAX_BODIES_BYTES = 64 * 1024 * 1024;
/** Bytes of an export that is imported: V8's longest text. */
export const MAX_EXPORT_BYTES = 511 * 1024 * 1024;
/** Bytes of a file that holds one line, such as a token. */
export const MAX_LINE_FILE_BYTES = 64 * 1024;
/** Bytes of content in one session read over HTTP; one larger message then comes alone. */
export const MAX_DETAIL_BYTES = 16 * 1024 * 1024;
/** Bytes of content in one such read of a visitor. */
export const VISITOR_PAGE_BYTES = 1024 * 1024;
/** Bytes of content in one such read of anybody while others wait for theirs, or much of the budget below is taken. */
export const SCARCE_PAGE_BYTES = 256 * 1024;
/** Bytes of large answers that their clients have not taken; then pages become as small as small answers. */
export const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
/** Bytes of content of the messages with which the events to an AG-UI client begin. */
export const LISTED_BYTES = 512 * 1024;
/** Large answers that are compressed at once, at most: each takes up to 1 MiB until its client has taken it. */
export const MAX_COMPRESSED = 8;
/** Larger answers count. */
export const LARGE_ANSWER_BYTES = 64 * 1024;
/** A connection that takes nothing of its answer for this long is closed. */
export const ANSWER_STALL_MS = 30_000;
/** Requests of one connection that wait for the answers before theirs, at most. */
export const MAX_PIPELINED = 100;
/** Calls that read a whole session, which run at once in a service, at most. */
export const LARGE_READS = 2;
/** Bytes of messages from which on a session is read alone. */
export const LARGE_SESSION_BYTES = 8 * 1024 * 1024;
/** Sessions in one page of the list. */
export const DEFAULT_LIST_LIMIT = 50;
export const MAX_LIST_LIMIT = 200;
/** Groups of `reprise stats` at most: the latest days, and of others those that cost most. */
export const MAX_STATS = 1000;
/** Characters of persona names, models, idempotency keys. */
export const MAX_NAME_LENGTH = 255;
/** UTF-8 bytes of the id of a thread that belongs to no session. */
export const MAX_THREAD_ID_BYTES = 255;
/** A request that creates a session can be repeated with its Idempotency-Key for this long. */
export const CREATE_KEY_MS = 24 * 60 * 60 * 1000;
/** Characters of a path: Linux' PATH_MAX. */
export const MAX_PATH_LENGTH = 4096;
/** How often the stream polls for messages of other processes, by default. */
export const STREAM_POLL_MS = 500;
/** Time between two polls for readers of the live feed. */
export const LIVE_POLL_MS = 60;
/** How often a node searches for exchanges that other processes queued. */
export const QUEUE_POLL_MS = 1000;
/** A reader of changes that was away for longer than this reads the list of sessions again. */
export const DELETIONS_KNOWN_MS = 90 * 24 * 60 * 60 * 1000;

/** Sessions of one database that a sync deletes without a question: 10, or a tenth of them if that is more. */
export const MAX_UNASKED_DELETIONS = 10;
export const MAX_UNASKED_PART = 0.1;
/** Changes that a reader gets at once. */
export const CHANGES_PAGE_ROWS = 100;
/** A stream without news sends a comment this often, so that proxies keep it open. */
export const STREAM_HEARTBEAT_MS = 15_000;
/** Unsent content that a slow reader may hold; no more is read from the store for it. */
export const STREAM_UNSENT_BYTES = 256 * 1024;
/** A reader that takes none of its unsent bytes for this long is cut; it resumes by its last id. */
export const STREAM_STALL_MS = 5000;
/** Messages and bytes of content that a stream reads at once, so that others get their turn. */
export const STREAM_PAGE_ROWS = 200;
export const STREAM_PAGE_BYTES = 128 * 1024;
/** Time for a client to send a request's headers, and all of the request. */
export const HEADERS_TIMEOUT_MS = 10_000;
export const REQUEST_TIMEOUT_MS = 30_000;
/** A connection without a request is kept this long. */
export const KEEP_ALIVE_MS = 30_000;
export const MAX_HEADER_BYTES = 16 * 1024;
/** Connections that the service holds at once, streams among them; more are closed unanswered. */
export const MAX_CONNECTIONS = 16_384;
/** Running requests get this long to finish when the service shuts down. */
export const SHUTDOWN_GRACE_MS = 5000;
/** The result of a readiness probe is reused for this long. */
export const PROBE_FRESH_MS = 1000;
/** Who asks whether the service is ready waits no longer than this for the probe. */
export const PROBE_TIMEOUT_MS = 2000;
/** Age of the metrics' query up to which it is used again. */
export const SCRAPE_FRESH_MS = 1000;
export const SCRAPE_TIMEOUT_MS = 2000;
/** Time for checking one artifact against a project's schema; then the check is stopped. */
export const SCHEMA_CHECK_MS = 2000;
/** Such checks that run at once, at most. */
export const SCHEMA_CHECKS = 2;
/** The most problems that one error lists. */
export const MAX_FAULTS = 20;
/** Life of a session's writer lease; it is renewed at a third. */
export const LEASE_MS = 30_000;
/** Characters of what a call of a tool is about. */
export const MAX_SUBJECT = 1000;
/** UTF-8 bytes of a tool's result that an event holds; the stored message holds all of it. */
export const EVENT_RESULT_BYTES = 4096;
/** UTF-8 bytes of the reasoning of one answer that events carry; the thread has all of it. */
export const EVENT_REASONING_BYTES = 4096;
/** A model that thinks without text to report is reported this often, while something of it arrives. */
export const EVENT_REASONING_SIGN_MS = 1000;
/** UTF-8 bytes of reasoning that one answer over HTTP holds; also the most that it holds of one answer of a model. */
export const MAX_REASONING_BYTES = 1024 * 1024;
/** How often a model is asked for one answer at most, while it fails with transient errors. */
export const MODEL_ATTEMPTS = 3;

/** How far ahead an exchange may be queued, and wait for a limit of a provider. */
export const MAX_POSTPONED_DAYS = 31;
export const MAX_POSTPONED_MS = MAX_POSTPONED_DAYS * 24 * 3600 * 1000;

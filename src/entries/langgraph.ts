export { ERROR_CODES, type ErrorCode, RepriseError } from "../core/errors.ts";
export { RepriseSaver, type RepriseSaverOptions } from "../langgraph/reprise-saver.ts";
export type {
  DeleteOptions,
  PruneOptions,
  ThreadList,
  ThreadsOptions,
} from "../langgraph/thread-operations.ts";
export {
  type GraphFactory,
  openReprise,
  type Reprise,
  type RunInput,
  type RunnableGraph,
  type RunResult,
} from "../library/open-reprise.ts";
export type { RunOptions } from "../library/run-options.ts";
export type { ListedSessions, Sessions } from "../library/sessions.ts";
export type { ListedThread } from "../store/checkpoints/threads/list-threads.ts";
export type { PruneReport } from "../store/checkpoints/threads/prune-free-thread.ts";
export type { OpenStore as Store } from "../store/store.ts";
export type { ThreadStats } from "../store/checkpoints/threads/thread-stats.ts";

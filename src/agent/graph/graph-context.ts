import type { LeaseState } from "../../store/records/leases/lease.ts";
import type { Store } from "../../store/store.ts";
import type { HeldThread } from "../driver/thread-holder.ts";
import type { ThreadConfig } from "../driver/driven-agent.ts";
import type { AttachedGraph } from "./attach-saver.ts";
import type { GraphInput } from "../driver/graph-input.ts";
import type { GraphProgress } from "./graph-progress.ts";
import type { LateSaver } from "./late-saver.ts";

/** Exchange of a graph of another program, under its session's lease. */
export interface GraphExchange {
  readonly store: Store;
  readonly attached: AttachedGraph;
  readonly late: LateSaver;
  readonly input: GraphInput;
  /** Names of the tools that may be run twice. */
  readonly repeatable: readonly string[];
  readonly progress: GraphProgress;
  readonly thread: HeldThread;
  readonly config: ThreadConfig;
  /** The session before its lease was taken: whether limits have to be checked. */
  readonly leaseState: LeaseState;
}

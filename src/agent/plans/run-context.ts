import type { ExchangeLimits } from "../../core/exchange-limits.ts";
import type { Fallback } from "../../core/model-settings.ts";
import type { ToolSet } from "../../core/tools.ts";
import type { Exchanger, Live } from "../../exchange/exchanger.ts";
import type { Report } from "../../exchange/report-events.ts";
import type { ArtifactPlace } from "../../plans/artifact-file.ts";
import type { RunPlan } from "../../plans/plan-of-run.ts";
import type { PersonaFolders } from "../../rules/personas/folders.ts";
import type { StoredRun } from "../../store/records/plans/read-runs.ts";
import type { Store } from "../../store/store.ts";
import type { HeldThread } from "../driver/thread-holder.ts";
import type { RunChecks } from "./run-checks.ts";
import type { ChildPlace } from "../exchange-context.ts";

/** A run under the lease of its exchange, for all that take part in it. */
export interface RunContext {
  readonly store: Store;
  readonly personas: PersonaFolders;
  /** Folder of the artifacts of its phases. */
  readonly place: ArtifactPlace;
  /** Runs its checks; null for a run without checks. */
  readonly checks: RunChecks | null;
  /** Facts about the tools of its phases. */
  readonly tools: ToolSet;
  readonly run: StoredRun;
  readonly plan: RunPlan;
  readonly thread: HeldThread;
  readonly live: Live;
  readonly report: Report;
  /** Models of phases after their first one, for personas that name none. */
  readonly fallback: Fallback;
  /** Limits of each phase, with its sub-agents. */
  readonly limits: ExchangeLimits;
  /** Makes what runs the exchange of a phase. */
  readonly openExchanger: (place: ChildPlace) => Exchanger;
}

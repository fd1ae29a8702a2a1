import { plural } from "../../../core/text/text.ts";
import { type Check, ok, warning } from "../../../store/check.ts";
import {
  readUnfinishedRuns,
  type UnfinishedRun,
} from "../../../store/records/plans/unfinished-runs.ts";
import type { ReadOnlyStore } from "../../../store/store.ts";

/** Ids that a sentence names, and the characters of each. */
const MAX_IDS = 3;
const ID_LENGTH = 8;

/** Whether the runs that are not done can be continued here. The sandbox is tried only for one with checks. */
export async function checkRuns(store: Pick<ReadOnlyStore, "read">): Promise<Check> {
  const runs = await store.read(readUnfinishedRuns, null);
  if (!runs.some(({ has_checks }) => has_checks)) {
    return runsCheck(runs, null);
  }
  const { createSandboxProbe } = await import("../../../workspace/sandbox/probe.ts");
  const { reason } = await createSandboxProbe()();
  return runsCheck(runs, reason);
}

/** `reason` says why there is no sandbox; null if there is one, or none is needed. */
export function runsCheck(runs: readonly UnfinishedRun[], reason: string | null): Check {
  if (runs.length === 0) {
    return ok("runs", "Every run of a plan is done.");
  }
  const stuck = runs.filter(({ has_checks }) => has_checks);
  if (reason === null || stuck.length === 0) {
    return ok("runs", `Not done: ${named(runs)}. Continue one with \`reprise plan resume\`.`);
  }
  return warning(
    "runs",
    `Not done, with checks, which need a sandbox: ${named(stuck)}. They cannot be continued here: ${reason}.`,
  );
}

function named(runs: readonly UnfinishedRun[]): string {
  const shown = runs.slice(0, MAX_IDS).map(({ session_id }) => session_id.slice(0, ID_LENGTH));
  return `${plural(runs.length, "run")} of plans (${shown.join(", ")}${runs.length > MAX_IDS ? " …" : ""})`;
}

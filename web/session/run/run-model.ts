import { type ReadonlySignal, signal } from "@preact/signals";

import type { LiveEvent, RunDetail, RunPhase } from "../../../src/entries/client.ts";
import { client } from "../../api.ts";
import { followSession } from "../../streams/streams.ts";
import { problemOf, type SessionProblem } from "../problem.ts";

/** A run of a plan as the page shows it. */
export interface RunModel {
  /** Null until it was read. */
  readonly run: ReadonlySignal<RunDetail | null>;
  /** Why it could not be read; null once it was. */
  readonly problem: ReadonlySignal<SessionProblem | null>;
  /** Reads all of it again. */
  refresh(): Promise<void>;
  /** Begins to read and to follow; the returned function ends both. */
  start(): () => void;
}

/** Follows a run by the id of its session, whole. */
export function createRunModel(id: string): RunModel {
  const run = signal<RunDetail | null>(null);
  const problem = signal<SessionProblem | null>(null);
  let isOld = false;
  let reading: Promise<void> | null = null;
  const readAll = async (): Promise<void> => {
    while (isOld) {
      isOld = false;
      try {
        run.value = await client.getPlanRun(id);
        problem.value = null;
      } catch (error) {
        problem.value = problemOf(error);
      }
    }
    reading = null;
  };
  const refresh = (): Promise<void> => {
    isOld = true;
    reading ??= readAll();
    return reading;
  };
  const hear = (event: LiveEvent): void => {
    if (event.event === "snapshot" || event.event === "exchange") {
      void refresh();
    } else if (event.event === "phase" && run.value !== null) {
      run.value = withPhase(run.value, event.data);
      // an answer that is on its way may be older
      isOld = reading !== null;
    }
  };
  return { run, problem, refresh, start: () => followSession(id, hear) };
}

function withPhase(run: RunDetail, phase: RunPhase): RunDetail {
  return { ...run, phases: run.phases.map((each) => (each.key === phase.key ? phase : each)) };
}

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { PhaseState } from "../../src/core/plan-runs.ts";
import { schedule, type ScheduledPhase, shownPhases } from "../../src/plans/schedule.ts";
import { testSize } from "../helpers/size.ts";

/** A plan whose phases depend on earlier ones only, with its steps as numbers. */
const lives = fc.record({
  phases: fc.array(
    fc.record({
      depends: fc.array(fc.nat(), { maxLength: 4 }),
      isWriter: fc.boolean(),
      asksFirst: fc.boolean(),
    }),
    { minLength: 1, maxLength: 60 },
  ),
  parallel: fc.integer({ min: 1, max: 8 }),
  steps: fc.infiniteStream(fc.nat(1000)),
});

interface Row {
  readonly key: string;
  readonly depends_on: readonly string[];
  isWriter: boolean;
  state: PhaseState;
  asks: boolean;
  isApproved: boolean;
  /** True if each attempt has to be approved. */
  readonly asksFirst: boolean;
}

function rowsOf(
  phases: readonly {
    readonly depends: readonly number[];
    readonly isWriter: boolean;
    readonly asksFirst: boolean;
  }[],
) {
  return phases.map(({ depends, isWriter, asksFirst }, at): Row => {
    const before = at === 0 ? [] : depends.map((each) => `p${each % at}`);
    return {
      key: `p${at}`,
      depends_on: [...new Set(before)],
      isWriter,
      state: "waiting",
      asks: false,
      isApproved: !asksFirst,
      asksFirst,
    };
  });
}

/** Runs a plan as an executor does: phases end, fail, ask and are answered, and processes die. */
function live(
  rows: Row[],
  parallel: number,
  next: () => number,
  check: (scheduled: ReturnType<typeof schedule>, active: ReadonlySet<string>) => void,
): ReturnType<typeof schedule>["outcome"] {
  let active = new Set<string>();
  let retries = 2;
  const rowOf = (key: string): Row => rows.find((row) => row.key === key)!;
  for (let turn = 0; turn < 2000; turn += 1) {
    const scheduled = schedule(rows, { parallel, active });
    check(scheduled, active);
    for (const key of scheduled.begin) {
      rowOf(key).state = "running";
      active.add(key);
    }
    for (const key of scheduled.ask) {
      rowOf(key).state = "approval";
    }
    const chance = next();
    for (const row of rows.filter(({ state }) => state === "approval")) {
      // people answer while others run, and at last when nothing else can
      if (scheduled.outcome === "waiting" || chance % 4 === 0) {
        const isRefused = (chance + row.key.length) % 5 === 0;
        row.state = isRefused ? "refused" : "waiting";
        row.isApproved = !isRefused;
      }
    }
    if (scheduled.outcome === "waiting") {
      rows.forEach((row) => (row.asks = false));
    } else if (scheduled.outcome === "failed" && retries > 0) {
      retries -= 1;
      for (const row of rows.filter(({ state }) => state === "failed" || state === "refused")) {
        row.state = "waiting";
        row.isApproved = !row.asksFirst;
      }
      continue;
    } else if (scheduled.outcome !== null) {
      return scheduled.outcome;
    }
    if (chance < 100) {
      // the process died, or was stopped
      active = new Set();
      if (chance < 20) {
        // roles are changed meanwhile
        rows.forEach((row) => (row.isWriter = (chance + row.key.length) % 3 === 0));
      }
      continue;
    }
    const key = [...active][chance % Math.max(1, active.size)];
    if (key !== undefined) {
      active.delete(key);
      const row = rowOf(key);
      row.asks = chance > 900;
      row.state = row.asks
        ? "running"
        : chance > 850
          ? "failed"
          : chance > 800
            ? "waiting"
            : "done";
      // another attempt
      row.isApproved = row.state === "waiting" ? !row.asksFirst : row.isApproved;
    }
  }
  return null;
}

/** A phase is blocked exactly if one that it depends on, at whatever distance, has failed or was refused. */
function expectCauses(rows: readonly Row[]): void {
  const shown = shownPhases(rows, true);
  const isStuck = (key: string): boolean => {
    const { state, depends_on } = rows.find((row) => row.key === key)!;
    return state === "failed" || state === "refused" || depends_on.some(isBlocked);
  };
  const stuck = new Map<string, boolean>();
  const isBlocked = (key: string): boolean => {
    const known = stuck.get(key) ?? isStuck(key);
    stuck.set(key, known);
    return known;
  };
  for (const { key, state, depends_on } of rows) {
    const isWanted = state === "waiting" && depends_on.some(isBlocked);
    expect([key, shown.get(key) === "blocked"]).toEqual([key, isWanted]);
  }
}

const RUNS = { numRuns: testSize("plan-schedule"), endOnFailure: true };

describe("the scheduler of a run", () => {
  it("[PLANRUN-2] [PLANRUN-30] begins a phase after its dependencies, one writer at a time and never more than there are slots, and ends", () => {
    const property = fc.property(lives, ({ phases, parallel, steps }) => {
      const rows = rowsOf(phases);
      const stateOf = (key: string): PhaseState => rows.find((row) => row.key === key)!.state;
      const isWriterOf = (key: string): boolean => rows.find((row) => row.key === key)!.isWriter;
      const outcome = live(
        rows,
        parallel,
        () => steps.next().value,
        ({ begin, ask, outcome: end }, active) => {
          // it ends exactly if nothing can be done
          expect(end === null).toBe(begin.length + ask.length + active.size > 0);
          for (const key of ask) {
            const row = rows.find((each) => each.key === key)!;
            expect([row.state, row.isApproved]).toEqual(["waiting", false]);
            expect(row.depends_on.map(stateOf).every((state) => state === "done")).toBe(true);
          }
          expect(new Set(begin).size).toBe(begin.length);
          expect(begin.length + active.size).toBeLessThanOrEqual(parallel);
          for (const key of begin) {
            expect(active.has(key)).toBe(false);
            const row = rows.find((each) => each.key === key)!;
            expect(["waiting", "running"]).toContain(row.state);
            expect(row.asks).toBe(false);
            expect(row.isApproved).toBe(true);
            expect(row.depends_on.map(stateOf).every((state) => state === "done")).toBe(true);
          }
          const writing = rows.filter(
            ({ key, isWriter }) => isWriter && (active.has(key) || begin.includes(key)),
          );
          expect(writing.length).toBeLessThanOrEqual(1);
          // nothing begins to write beside a writer that asks
          const isWriting = rows.some(({ state, isWriter }) => isWriter && state === "running");
          const beside = begin.filter((key) => stateOf(key) === "waiting" && isWriterOf(key));
          expect(isWriting && beside.length > 0).toBe(false);
          expectCauses(rows);
        },
      );
      expect(outcome).not.toBeNull();
      const shown = shownPhases(rows, false);
      const left = rows.filter(({ state }) => state === "waiting");
      // whatever could still be done was done
      expect(left.every(({ key }) => shown.get(key) === "blocked")).toBe(true);
      expect(rows.some(({ state }) => state === "running" || state === "approval")).toBe(false);
      expect(outcome === "done").toBe(rows.every(({ state }) => state === "done"));
    });
    fc.assert(property, RUNS);
  });

  it("[PLANRUN-2] continues one writer after the other if roles have become writers while their phases ran", () => {
    const running = (key: string, asks: boolean): ScheduledPhase => {
      return { key, asks, state: "running", depends_on: [], isWriter: true, isApproved: true };
    };
    const phases = [running("a", true), running("b", false), running("c", false)];
    const begun = (active: readonly string[]) =>
      schedule(phases, { parallel: 4, active: new Set(active) }).begin;
    expect(begun([])).toEqual(["b"]);
    expect(begun(["c"])).toEqual([]);
  });

  it("[PLANRUN-2] decides the same for the same phases in another order", () => {
    const property = fc.property(lives, fc.nat(), ({ phases, parallel, steps }, turn) => {
      const rows = rowsOf(phases);
      live(
        rows,
        parallel,
        () => steps.next().value,
        (scheduled, active) => {
          const at = turn % rows.length;
          expect(schedule(structuredClone(rows), { parallel, active })).toEqual(scheduled);
          const turned = [...rows.slice(at), ...rows.slice(0, at)].toReversed();
          expect(schedule(turned, { parallel, active })).toEqual(scheduled);
        },
      );
    });
    fc.assert(property, { ...RUNS, numRuns: Math.ceil(RUNS.numRuns / 10) });
  });
});

describe("what is shown of a phase", () => {
  const phase = (key: string, state: PhaseState, more: Partial<ScheduledPhase> = {}) => ({
    key,
    depends_on: [],
    state,
    isWriter: true,
    asks: false,
    isApproved: true,
    ...more,
  });

  it("[PLANRUN-3] follows from its state, its dependencies and whether somebody runs the plan", () => {
    const phases = [
      phase("a", "done"),
      phase("b", "failed", { depends_on: ["a"] }),
      phase("c", "waiting", { depends_on: ["b"] }),
      phase("d", "waiting", { depends_on: ["c"] }),
      phase("e", "waiting", { depends_on: ["a"] }),
      phase("f", "running"),
      phase("g", "running", { asks: true }),
      phase("h", "waiting", { depends_on: ["f"] }),
    ];
    expect([...shownPhases(phases, true).values()]).toEqual([
      "done",
      "failed",
      "blocked",
      "blocked",
      "ready",
      "running",
      "asking",
      "waiting",
    ]);
    expect(shownPhases(phases, false).get("f")).toBe("interrupted");
  });
});

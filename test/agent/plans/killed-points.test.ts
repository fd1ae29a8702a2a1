import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { undoExchange } from "../../../src/exchange/undo/undo-exchange.ts";
import { listChangedExchanges } from "../../../src/store/records/file-changes/read.ts";
import { readRun } from "../../../src/store/records/plans/read-runs.ts";
import { createKeptBytes } from "../../../src/workspace/undo/kept-bytes.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { hasSandbox, type LifeEnd, type LifePoint, PlanLives } from "../../helpers/plan-lives.ts";
import { testSize } from "../../helpers/size.ts";

/** A write of a run that nobody kills, by the life in which it happens. */
interface Point {
  readonly life: number;
  readonly point: LifePoint;
  readonly nth: number;
  readonly what: string;
}

const POINTS: readonly Point[] = [
  { life: 1, point: "begin", nth: 1, what: "a phase begins" },
  { life: 1, point: "child", nth: 1, what: "its sub-agent is made" },
  { life: 1, point: "answered", nth: 1, what: "its sub-agent has forgotten the artifact" },
  { life: 1, point: "file", nth: 1, what: "the folder of the artifact is made" },
  { life: 1, point: "file", nth: 2, what: "the artifact is written" },
  { life: 1, point: "written", nth: 2, what: "it is on the disk" },
  { life: 1, point: "hash", nth: 1, what: "its hash is stored" },
  { life: 1, point: "answered", nth: 2, what: "its sub-agent has answered" },
  { life: 1, point: "end", nth: 1, what: "the phase is done" },
  { life: 1, point: "ask", nth: 1, what: "approval is asked for" },
  { life: 1, point: "asked", nth: 1, what: "a sub-agent asks" },
  { life: 1, point: "end", nth: 2, what: "an attempt has failed" },
  { life: 1, point: "begin", nth: 4, what: "the next attempt begins" },
  { life: 1, point: "end", nth: 5, what: "a phase has failed" },
  { life: 1, point: "park", nth: 1, what: "the run waits for people" },
  { life: 2, point: "decide", nth: 1, what: "a phase is approved" },
  { life: 2, point: "begin", nth: 1, what: "it begins" },
  ...(hasSandbox
    ? ([
        { life: 2, point: "checked", nth: 1, what: "a check has changed a file" },
        { life: 2, point: "answered", nth: 2, what: "what a check wrote was sent" },
        { life: 2, point: "checked", nth: 2, what: "the check has passed" },
      ] as const)
    : []),
  { life: 3, point: "decide", nth: 1, what: "a phase is refused" },
  { life: 3, point: "park", nth: 1, what: "the run has failed" },
  { life: 4, point: "begin", nth: 1, what: "a phase is tried again" },
  { life: 4, point: "ask", nth: 1, what: "approval of the next attempt is asked for" },
  { life: 5, point: "decide", nth: 1, what: "the next attempt is approved" },
  { life: 5, point: "report", nth: 1, what: "the report is stored" },
];

const MOMENTS = ["before", "within", "after"] as const;

/** Each point at each moment, so that a few of them from the beginning are of all kinds. */
const KILLS = MOMENTS.flatMap((when) =>
  POINTS.map(({ what, ...point }) => ({ ...point, when, what })),
);
const STRIDE = 7;

function chosenKills(): readonly (LifeEnd & Point)[] {
  const count = Math.min(testSize("plan-writes"), KILLS.length);
  return Array.from({ length: count }, (_, n) => KILLS[(n * STRIDE) % KILLS.length]!);
}

/** Undoes each exchange of a run that changed files, the last one first. */
async function undoAll({ store, id, kept }: PlanLives): Promise<void> {
  const changed = await store.read(listChangedExchanges, { session_id: id });
  for (const { n } of changed) {
    const undo = { store, kept: createKeptBytes(kept), command: "test" };
    await undoExchange(undo, { reference: id, n, direction: "undo" });
  }
}

describeEngine("a run whose process is killed", (engine) => {
  it.each(chosenKills())(
    "[PLANRUN-100] $when the moment when $what, is continued as if nothing had happened",
    async ({ life, point, nth, when }) => {
      const lives = await PlanLives.open(await engine.create());
      const before = lives.files();
      for (let each = 1; each < life; each += 1) {
        await lives.help((await lives.live(null)) ?? "killed");
      }
      expect(await lives.live({ point, nth, when })).toBeNull();
      await lives.finish();
      await lives.expectWhole();
      if (hasSandbox) {
        const { phases } = await lives.store.read(readRun, { reference: lives.id });
        const hash = phases.find(({ key }) => key === "design")?.artifact_hash;
        const lines = readFileSync(join(lives.repo, "checked"), "utf8").trim().split("\n");
        expect(lines.length).toBeGreaterThanOrEqual(2);
        expect(new Set(lines)).toEqual(new Set([`${hash}  out/design.json`]));
      }
      await undoAll(lives);
      expect(lives.files()).toEqual(before);
    },
  );
});

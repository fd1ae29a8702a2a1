import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createRunExchanger } from "../src/agent/plans/run-exchanger.ts";
import type { Exchanger } from "../src/exchange/exchanger.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import { createRun } from "../src/store/records/plans/create-run.ts";
import { createSession } from "../src/store/records/sessions/create.ts";
import type { Store } from "../src/store/store.ts";
import { type Bench, median } from "./measurement.ts";
import { agentOn, processorTime } from "./session-course.ts";
import { questionOf } from "./texts.ts";

/** Each figure is the median of so many rounds, in which all take turns. */
const ROUNDS = 7;

/** Plans whose phases depend each on the one before it, with a model that costs nothing. */
export const bench: Bench = {
  about: "processor time of a phase of a plan, however many phases the plan has",
  run: async ({ scale }) => {
    const many = Math.max(20, Math.round(200 * scale));
    const folder = mkdtempSync(join(tmpdir(), "reprise-bench-"));
    const store = await openSqliteStore({ path: join(folder, "bench.db") });
    try {
      const exchanger = createRunExchanger(agentOn(store));
      const place = { store, exchanger, folder };
      // compiles the code
      await timeOfPhase(place, 10);
      await timeOfExchange(place);
      const times = { few: [] as number[], many: [] as number[], exchange: [] as number[] };
      for (let round = 0; round < ROUNDS; round += 1) {
        times.few.push(await timeOfPhase(place, 10));
        times.exchange.push(await timeOfExchange(place));
        times.many.push(await timeOfPhase(place, many));
      }
      const growth = median(times.many.map((time, at) => time / (times.few[at] ?? time)));
      const few = median(times.few);
      const exchange = median(times.exchange);
      return [
        {
          what: `a phase of a plan of ${many}, held against one of a plan of 10`,
          unit: "ms",
          ours: growth * few,
          floor: few,
          reach: { at_most: 1.2 },
        },
        {
          what: "a phase, beyond the exchange of its sub-agent, held against the first exchange of a session",
          unit: "ms",
          ours: Math.max(0, few - exchange),
          floor: exchange,
          reach: { at_most: 1.5 },
        },
      ];
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  },
};

interface Place {
  readonly store: Store;
  readonly exchanger: Exchanger;
  readonly folder: string;
}

const live = () => ({ listener: () => undefined, signal: new AbortController().signal });

async function timeOfPhase({ store, exchanger, folder }: Place, count: number): Promise<number> {
  const run_id = crypto.randomUUID();
  const phases = Array.from({ length: count }, (_, at) => ({
    key: `p${at}`,
    title: `Phase ${at}`,
    role: "reviewer",
    instructions: questionOf(at),
    ...(at === 0 ? {} : { depends_on: [`p${at - 1}`] }),
  }));
  const { id } = await store.write(createRun, {
    session: { repo_path: folder, model: "anthropic:free" },
    run_id,
    plan: JSON.stringify({ runId: run_id, phaseKey: "planning", phases }),
    keys: phases.map(({ key }) => key),
    path: null,
    checks: null,
    options: { parallel: 1, retries: 0, approve: [] },
    request: "Run the plan.",
    again: false,
  });
  const time = await processorTime(async () => {
    const { state } = await exchanger.exchange({ session_id: id, text: null }, live());
    if (state !== "done") {
      throw new Error(`the run is ${state}`);
    }
  });
  return time / count;
}

async function timeOfExchange({ store, exchanger, folder }: Place): Promise<number> {
  const count = 10;
  const time = await processorTime(async () => {
    for (let at = 0; at < count; at += 1) {
      const { id } = await store.write(createSession, {
        repo_path: folder,
        persona_name: "reviewer",
      });
      await exchanger.exchange({ session_id: id, text: questionOf(at) }, live());
    }
  });
  return time / count;
}

import { it } from "vitest";

import { describeEngines } from "../helpers/engines.ts";
import { randomOf, seedOf } from "../helpers/random.ts";
import { testLevel, testSize } from "../helpers/size.ts";
import { planOf } from "./exchanges/plan.ts";
import { tortureExchanges } from "./exchanges/run.ts";

const ROUNDS = testSize("exchanges");
const IS_LONG = testLevel() === "long";

describeEngines("a service whose nodes are killed", (engine) => {
  it("[QUEUE-34] [QUESTION-18] answers each message once and in order, and repeats no unsafe call", async () => {
    const random = randomOf(seedOf("exchanges"));
    const figures = await tortureExchanges({
      database: await engine.create(),
      random,
      plan: planOf(ROUNDS, random),
      // on SQLite one at a time in the first half, so that each comes after the one before
      nodesIn: (round) => (engine.name === "postgres" ? 3 : round < ROUNDS / 2 ? 1 : 2),
      sessions: IS_LONG ? 100 : 8,
      backlog: IS_LONG ? 24 : 5,
    });
    console.log(`exchanges (${engine.name}): ${figures}`);
  });
});

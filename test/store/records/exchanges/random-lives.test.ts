import { expect, it } from "vitest";

import { describeEngines, openFresh } from "../../../helpers/engines.ts";
import { type Act, createWalk } from "../../../helpers/exchange-walk.ts";
import { randomOf, seedOf } from "../../../helpers/random.ts";
import { testSize } from "../../../helpers/size.ts";

/** Lives of a session that are tried; see `npm run torture`. */
const LIVES = testSize("exchange-lives");
const STEPS = 30;

describeEngines("random lives of a session's exchanges", (engine) => {
  it("[RECORD-3] [RECORD-5] [RECORD-6] [QUEUE-36] follow the model through every act", async () => {
    const store = await openFresh(engine);
    const seed = seedOf("exchange-lives");
    for (let life = 0; life < LIVES; life += 1) {
      const random = randomOf(seed + life);
      const pick = (count: number) => Math.floor(random() * count);
      const walk = await createWalk(store, pick);
      const acts: Act[] = [];
      try {
        for (let step = 0; step < STEPS; step += 1) {
          const possible = walk.possible();
          acts.push(possible[pick(possible.length)]!);
          await walk.act(acts.at(-1)!);
        }
        await walk.remove();
      } catch (error) {
        throw new Error(`seed ${seed}, life ${life}: ${acts.join(" ")}`, { cause: error });
      }
    }
    expect(LIVES).toBeGreaterThan(0);
  });
});

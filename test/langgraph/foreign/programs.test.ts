import { expect, it } from "vitest";

import { RepriseSaver } from "../../../src/langgraph/reprise-saver.ts";
import { copyAndCompare, pruneBoth } from "../../helpers/checkpoints/maintain-twin.ts";
import { readKept } from "../../helpers/checkpoints/kept.ts";
import { RandomProgram } from "../../helpers/checkpoints/random-program.ts";
import { TwinSaver } from "../../helpers/checkpoints/twin-saver.ts";
import { createDatabase } from "../../helpers/database.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";

/** `npm run torture -- programs --seed N --size 1` repeats the program of a seed. */
const PROGRAMS = testSize("programs");
const STEPS = 8;

it("[SAVER-41] random programs on two savers that do not know of each other read what MemorySaver reads", async () => {
  const first = seedOf("programs");
  await using database = await createDatabase();
  await using one = new RepriseSaver(database.location);
  await using two = new RepriseSaver(database.location);
  await using store = await openStoreAt(database.location);
  let compared = 0;
  // some programs delete most of what they stored: more of them follow until enough was compared
  const enough = () => compared > PROGRAMS;
  for (let made = 0; made < PROGRAMS || (!enough() && made < 10 * PROGRAMS); made += 1) {
    const seed = first + made;
    const twin = new TwinSaver([one, two]);
    const { memory } = twin;
    let maintained = 0;
    const program = new RandomProgram({
      saver: twin,
      random: randomOf(seed),
      name: `${seed}`,
      maintain: async (thread_id) => {
        maintained += 1;
        const saver = maintained % 2 === 0 ? one : two;
        const work = maintained % 3 === 0 ? copyAndCompare : pruneBoth;
        await twin.exclusively(() => work({ saver, memory, thread_id }));
      },
    });
    try {
      for (let step = 0; step < STEPS; step += 1) {
        await program.step();
      }
      for (const thread of program.threads) {
        // also as a saver reads it that has read nothing before
        compared += await twin.compareAll(thread, RepriseSaver.from(store));
        await (seed % 2 === 0 ? twin.deleteThread(thread) : null);
      }
    } catch (error) {
      throw new Error(`the program of seed ${seed} failed`, { cause: error });
    }
  }
  console.log(`programs: ${PROGRAMS} or more, ${compared} checkpoints`);
  expect(enough()).toBe(true);
  expect((await store.read(readKept, null)).dangling).toEqual([]);
});

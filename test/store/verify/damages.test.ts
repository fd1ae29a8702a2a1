import { expect, it } from "vitest";

import { isRepriseError } from "../../../src/core/errors.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { DAMAGES, type Damage, type Target } from "../../helpers/sessions/damages.ts";
import { type Bench, type Dump, openBench } from "../../helpers/sessions/bench.ts";

/** Damages planted; see `npm run torture`. */
const SIZE = testSize("damages");
/** From one kind to the next, so that a short run meets kinds of every group; see `damages.ts`. */
const STRIDE = 7;

it("[PROOF-3] [PROOF-14] [PROOF-24] finds planted damage if it can be known, and repair changes no correct row", async () => {
  const random = seededRandom("damages");
  const first = Math.floor(random() * DAMAGES.length);
  const outcomes: Outcome[] = [];
  for (let round = 0; round < SIZE; round += 1) {
    const damage = DAMAGES[(first + round * STRIDE) % DAMAGES.length];
    if (damage !== undefined) {
      outcomes.push(await plantOne(damage, random));
    }
  }
  const count = (holds: (outcome: Outcome) => boolean): number => outcomes.filter(holds).length;
  const missed = outcomes.filter(({ found, expected }) => !found && expected === "found");
  const wrong = outcomes.flatMap(({ wrong }) => wrong);
  console.log(
    `damages: ${outcomes.length} planted, ${count(({ found }) => found)} found, ${count(({ waits }) => waits)} of them kept as PROOF-6 says, ${count(({ found, expected }) => !found && expected === "undecidable")} documented as undecidable, ${missed.length} missed, ${wrong.length} false; ${count(({ refused }) => refused)} repairs refused`,
  );
  expect({ missed: missed.map(({ name }) => name), wrong }).toEqual({ missed: [], wrong: [] });
});

interface Outcome extends Pick<Damage, "name" | "expected"> {
  readonly found: boolean;
  readonly refused: boolean;
  /** A user's message that nothing accounts for, which waits for the agent after the repair. */
  readonly waits: boolean;
  /** What was found in a session that nobody touched, or repaired although it was right. */
  readonly wrong: readonly string[];
}

async function plantOne(damage: Damage, random: () => number): Promise<Outcome> {
  const { name, expected } = damage;
  const bench = await clearedSession();
  const untouched = await bench.store.write(createSession, {});
  await bench.store.write(appendUserMessage, { reference: untouched.id, content: "untouched" });
  const before = await bench.dump();
  expect(await bench.kinds()).toEqual([]);
  const target: Target = { bench, random, held: [1, 2, 3, 4, 5, 6], waiting: 7, cleared: 2 };
  await damage.plant(target);
  const damaged = await bench.dump();
  const found = (await bench.kinds()).length > 0;
  const others = (await verifySession(bench.store, untouched.id)).findings;
  const refused = await refusesRepair(bench);
  const after = await bench.dump();
  const changed = changedRightOnes({ before, damaged, after }).filter(
    (field) => damage.counts?.includes(field) !== true && damage.goesWith !== field,
  );
  const waits = damage.counts !== undefined;
  if (waits) {
    expect(after.rows.filter(({ checkpointed }) => checkpointed === 0)).toHaveLength(2);
  }
  await bench.store.close();
  const wrong = [...others.map(({ sentence }) => sentence), ...changed];
  return { name, expected, found, refused, waits, wrong: wrong.map((text) => `${name}: ${text}`) };
}

/** One exchange that was cleared, two in the next thread, and a message that waits. */
async function clearedSession(): Promise<Bench> {
  const bench = await openBench();
  await bench.exchange("first");
  await bench.freshThread(true);
  await bench.exchange("second");
  await bench.exchange("third");
  await bench.append("waits");
  return bench;
}

async function refusesRepair(bench: Bench): Promise<boolean> {
  try {
    await bench.repair();
    return false;
  } catch (error) {
    if (isRepriseError(error, "database_corrupt")) {
      return true;
    }
    throw error;
  }
}

interface Course {
  readonly before: Dump;
  readonly damaged: Dump;
  readonly after: Dump;
}

/** Rows and fields that the damage left unchanged and the repair did not. */
function changedRightOnes({ before, damaged, after }: Course): string[] {
  const rows = before.rows.filter((row) => {
    const text = textOf(row);
    return hasRow(damaged, text) && !hasRow(after, text);
  });
  const fields = Object.keys(before.session).filter(
    (name) =>
      name !== "lease_epoch" &&
      before.session[name] === damaged.session[name] &&
      before.session[name] !== after.session[name],
  );
  return [...rows.map(({ seq }) => `row ${String(seq)} was right`), ...fields];
}

function hasRow({ rows }: Dump, text: string): boolean {
  return rows.some((row) => textOf(row) === text);
}

/** All but the position: it may have to move. */
function textOf({ seq: _, ...row }: Record<string, unknown>): string {
  return JSON.stringify(row);
}

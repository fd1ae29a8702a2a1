import { expect, it } from "vitest";

import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngine, type TestDatabase } from "../../helpers/engines.ts";
import { seededRandom } from "../../helpers/random.ts";
import { expectSound, forkOf, threadRows } from "../../helpers/sessions/forks.ts";
import { makeSession, runStep } from "../../helpers/sessions/steps.ts";
import { exportsOf } from "../../helpers/sessions/stored.ts";
import { testLevel, testSize } from "../../helpers/size.ts";
import { startProgram } from "../../helpers/start-program.ts";

/** Writes of each in such a family, with the commit. */
const WRITES = { fork: 13, delete: 19 };

/** A session whose rows three forks refer to, one of them through another, which was continued. */
async function family(store: Store): Promise<string> {
  const steps = [1, 2, 3].flatMap((n) => [
    { do: "exchange" as const, text: `question ${n}` },
    { do: "fold" as const },
  ]);
  const origin = await makeSession(store, { steps, children: [] });
  const early = await forkOf(store, origin, 2);
  await forkOf(store, origin);
  await runStep(store, await forkOf(store, early), { do: "exchange", text: "apart" });
  return origin;
}

describeEngine("families of killed processes", (engine) => {
  it.each(["fork", "delete"] as const)(
    "[FORK-5] are whole wherever one dies that does this: %s",
    { timeout: 600_000 },
    async (what) => {
      const random = seededRandom(`killed ${what} on ${engine.name}`);
      const { database, store } = await opened(await engine.create());
      const origin = await family(store);
      const size = testSize("family-kills");
      for (let kill = 1; kill <= size; kill += 1) {
        const write = testLevel() === "test" ? 1 + Math.floor(random() * WRITES[what]) : kill;
        const before = await exportsOf(store);
        const args = [database.location, origin, what, String(write)];
        const { signal, stdout, stderr } = await startProgram("store-family.ts", args).finished;
        const after = await exportsOf(store);
        await expectSound(store, ...after.keys());
        if (signal !== "SIGKILL") {
          expect(stdout, stderr).toBe("done\n");
          expect(after.size).toBe(before.size + (what === "fork" ? 1 : -1));
          return;
        }
        expect(after).toEqual(before);
      }
    },
  );

  it("[FORK-3] are whole while one is forked in another process and others are deleted", async () => {
    const random = seededRandom(`deleted beside forks on ${engine.name}`);
    const { database, store } = await opened(await engine.create());
    const origin = await family(store);
    const forking = startProgram("store-fork.ts", [database.location, origin]);
    await forking.waitFor(/ready/);
    for (let n = 1; n <= testSize("forks"); n += 1) {
      forking.child.stdin?.write("fork\n");
      const ids = [...(await exportsOf(store)).keys()].filter((id) => id !== origin);
      for (const id of ids.toSorted(() => random() - 0.5).slice(0, 2)) {
        await store.write(deleteSessionTree, { id });
      }
    }
    forking.child.stdin?.write("fork\n");
    await store.write(deleteSessionTree, { id: origin });
    forking.child.stdin?.end("fork\n");
    expect((await forking.finished).stderr).toContain("session_not_found");
    const left = [...(await exportsOf(store)).keys()].toSorted(() => random() - 0.5);
    await expectSound(store, ...left);
    for (const id of left) {
      await store.write(deleteSessionTree, { id });
    }
    expect(Object.values(await threadRows(store)).every((rows) => rows === 0)).toBe(true);
  }, 600_000);
});

async function opened(database: TestDatabase) {
  return { database, store: await database.open() };
}

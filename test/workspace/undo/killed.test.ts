import { readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { undoBench, type UndoBench } from "../../helpers/undo-bench.ts";

/** Changes of files; see `npm run torture`. */
const CHANGES = testSize("undo-killed");

it("[UNDO-8] a process that is killed among random changes leaves what can be undone, redone and undone", async () => {
  const random = seededRandom("undo-killed");
  const bench = await undoBench({ "d0/e0/f0.txt": "1 0\n", "d1/e1/f1.txt": "1 1\n" });
  let changes = 0;
  for (let n = 1; changes < CHANGES; n += 1) {
    const before = bench.tree();
    changes += await changeUntilKilled(bench, n, random);
    const after = bench.tree();
    const done = await undoUnlessNothing(bench, n);
    expect(bench.tree(), `exchange ${n}`).toEqual(before);
    if (done) {
      await bench.redo({ n });
      expect(withoutTemporary(bench.tree()), `exchange ${n}`).toEqual(withoutTemporary(after));
      if (random() < 0.5) {
        await writeAsAPerson(bench, n, random);
      }
    }
  }
});

/** Returns how many changes were reported. */
async function changeUntilKilled(bench: UndoBench, n: number, random: () => number) {
  const { location, repo, folder, session } = bench;
  const seed = String(Math.floor(random() * 2 ** 32));
  const args = [location, repo, folder, session.id, String(n), seed];
  const program = startProgram("undo-edits.ts", args);
  const most = 1 + Math.floor(random() * 30);
  await program.waitFor(new RegExp(`(?:.+\n){${most}}`));
  // somewhere in the next change
  const end = performance.now() + random() * 4;
  while (performance.now() < end) {
    await new Promise(setImmediate);
  }
  const { stdout } = await program.stop();
  return stdout.split("\n").length - 1;
}

async function undoUnlessNothing(bench: UndoBench, n: number): Promise<boolean> {
  const { files } = await bench.undo({ n });
  expect(files.filter(({ outcome }) => outcome === "refused")).toEqual([]);
  return files.length > 0;
}

/** What a person writes after the exchange is never overwritten, and the rest is undone. */
async function writeAsAPerson(bench: UndoBench, n: number, random: () => number): Promise<void> {
  const files = readdirSync(bench.repo, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".txt"),
  );
  const path = files[Math.floor(random() * files.length)] ?? "";
  bench.write(path, "a person's\n");
  await bench.undo({ n });
  expect(bench.file(path), join(path, String(n))).toBe("a person's\n");
}

function withoutTemporary(tree: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([path]) => !path.endsWith(".tmp")));
}

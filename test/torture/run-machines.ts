import { runLongTests } from "./long-tests.ts";
import type { TortureOptions } from "./main.ts";

/** A command line that is killed or frozen amid its answer, and another machine that waits for its lease to run out (30 s) and goes on; `size` rounds. */
export async function run({ size = 3, ...options }: TortureOptions): Promise<void> {
  await runLongTests({ ...options, size, files: ["test/store/postgres/machines.test.ts"] });
}

import { runLongTests } from "./long-tests.ts";
import type { TortureOptions } from "./main.ts";

/** A lock that another program holds for longer than a write waits; `size` is that wait in milliseconds. */
export async function run({ size = 5000, ...options }: TortureOptions): Promise<void> {
  await runLongTests({ ...options, size, files: ["test/store/sqlite/faults.test.ts"] });
}

import { runLongTests } from "./long-tests.ts";
import type { TortureOptions } from "./main.ts";

/** Kills among parallel writes whose files then change; `size` is how many times. */
export async function run({ size = 200, ...options }: TortureOptions): Promise<void> {
  await runLongTests({ ...options, size, files: ["test/e2e/kill-writes.test.ts"] });
}

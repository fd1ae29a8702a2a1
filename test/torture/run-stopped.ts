import { runLongTests } from "./long-tests.ts";
import type { TortureOptions } from "./main.ts";

/** Exchanges whose process is stopped at a random moment, replaced and continued; `size` rounds. */
export async function run({ size = 60, ...options }: TortureOptions): Promise<void> {
  await runLongTests({ ...options, size, files: ["test/store/leases/random-stops.test.ts"] });
}

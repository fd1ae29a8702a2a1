import { runLongTests } from "./long-tests.ts";
import type { TortureOptions } from "./main.ts";

/** Images of a killed process's files, damaged at random places and opened again; `size` images each kind of history. */
export async function run({ size = 5000, ...options }: TortureOptions): Promise<void> {
  await runLongTests({ ...options, size, files: ["test/store/crash/power-loss.test.ts"] });
}

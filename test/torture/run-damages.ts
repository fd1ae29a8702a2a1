import { runLongTests } from "./long-tests.ts";
import type { TortureOptions } from "./main.ts";

/** Damages planted in sessions, their checkpoints and messages; `size` is how many. */
export async function run({ size = 400, ...options }: TortureOptions): Promise<void> {
  await runLongTests({ ...options, size, files: ["test/agent/proof/damages.test.ts"] });
}

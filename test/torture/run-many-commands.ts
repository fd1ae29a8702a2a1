import { runLongTests } from "./long-tests.ts";
import type { TortureOptions } from "./main.ts";

/** Command lines that are started at once on one SQLite file; `size` of them, a fifth are exchanges. */
export async function run({ size = 100, ...options }: TortureOptions): Promise<void> {
  await runLongTests({ ...options, size, files: ["test/cli/many-commands.test.ts"] });
}

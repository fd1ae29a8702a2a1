import { runLongTests } from "./long-tests.ts";
import type { TortureOptions } from "./main.ts";

/** A file to PostgreSQL and back, each copy killed on the way; `size` sessions, from 1,000 on with 100 messages each. */
export async function run({ size = 1100, ...options }: TortureOptions): Promise<void> {
  await runLongTests({ ...options, size, files: ["test/cli/copy/copy.test.ts"] });
}

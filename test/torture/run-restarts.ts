import { runLongTests } from "./long-tests.ts";
import type { TortureOptions } from "./main.ts";

/** PostgreSQL crashes under load and is started again, `size` times. */
export async function run({ size = 20, ...options }: TortureOptions): Promise<void> {
  await runLongTests({ ...options, size, files: ["test/store/postgres/restarts.test.ts"] });
}

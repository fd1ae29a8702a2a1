import { runLongTests } from "./long-tests.ts";
import type { TortureOptions } from "./main.ts";

/** PostgreSQL is stopped at once behind the real pgbouncer in transaction mode, after `size` acknowledged appends each time, three times from 1,000 on. */
export async function run({ size = 1000, ...options }: TortureOptions): Promise<void> {
  await runLongTests({ ...options, size, files: ["test/store/postgres/pooler.test.ts"] });
}

import { runLongTests } from "./long-tests.ts";
import type { TortureOptions } from "./main.ts";

/** 64 writers and 4 readers on two services and one PostgreSQL; `size` messages of each writer. */
export async function run({ size = 200, ...options }: TortureOptions): Promise<void> {
  await runLongTests({ ...options, size, files: ["test/store/postgres/services.test.ts"] });
}

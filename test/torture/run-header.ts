import { runLongTests } from "./long-tests.ts";
import type { TortureOptions } from "./main.ts";

/** Every bit of a database's header, wrong; `size` is how many bits of each byte. */
export async function run({ size = 8, ...options }: TortureOptions): Promise<void> {
  await runLongTests({ ...options, size, files: ["test/store/crash/header.test.ts"] });
}

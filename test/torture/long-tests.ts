import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const VITEST = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Carries out tests at another size than `npm test` does; throws where one of them failed. */
export async function runLongTests(input: {
  readonly files: readonly string[];
  readonly size: number;
  readonly seed?: number;
}): Promise<void> {
  const child = spawn(process.execPath, [VITEST, "run", ...input.files, "--testTimeout=0"], {
    cwd: ROOT,
    stdio: "inherit",
    env: {
      ...process.env,
      REPRISE_TEST_SIZE: `${input.size}`,
      ...(input.seed === undefined ? {} : { REPRISE_TEST_SEED: `${input.seed}` }),
    },
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) {
    throw new Error("a test failed; its seed, printed above, repeats it with --seed");
  }
}

import { setTimeout as sleep } from "node:timers/promises";

/** What takes seconds on a machine that has nothing else to do. */
const STUCK_MS = 180_000;

/** Waits for what will be so; throws if it does not come. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const since = performance.now();
  while (!(await condition())) {
    if (performance.now() - since > STUCK_MS) {
      throw new Error(`waited in vain: ${what}`);
    }
    await sleep(5);
  }
}

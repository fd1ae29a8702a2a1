import { setTimeout as sleep } from "node:timers/promises";

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    await sleep(10);
  }
}

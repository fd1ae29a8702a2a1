import { setTimeout as sleep } from "node:timers/promises";

import type { Running } from "./process.ts";
import { freshHome } from "./reprise.ts";

export const SERVICE_TOKEN = "a-token";

interface LogLine {
  readonly event: string;
  readonly process: number;
  readonly pid: number;
}

export function logged(service: Running, event: string): LogLine[] {
  const whole = service.stderr().split("\n").slice(0, -1);
  return whole.map((line) => JSON.parse(line) as LogLine).filter((line) => line.event === event);
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await sleep(20);
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A service of two processes that have started. */
export async function startTwo() {
  const home = freshHome({ REPRISE_MODEL: "demo", REPRISE_TOKEN: SERVICE_TOKEN });
  const service = home.start(["serve", "--port", "0", "--log", "--processes", "2"]);
  const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
  await until(() => logged(service, "started").length === 2);
  return { home, service, url };
}

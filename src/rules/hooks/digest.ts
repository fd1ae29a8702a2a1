import { createHash } from "node:crypto";

import type { Hook } from "./hook.ts";

/** Returns what a person has seen of the hooks of a folder: another hash whenever anything of them changes. */
export function hooksDigest(hooks: readonly Hook[]): string {
  const exact = hooks.map(({ event, match, command, timeoutMs }) => [
    event,
    match,
    command,
    timeoutMs,
  ]);
  return createHash("sha256").update(JSON.stringify(exact)).digest("hex");
}

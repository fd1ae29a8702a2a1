import type { Log } from "../../../http/metrics/request-log.ts";
import { type CliContext, noticeJson } from "../../process/context.ts";

/** Events that are logged with and without `--log`. */
const ALWAYS: ReadonlySet<unknown> = new Set([
  "failure",
  "not_ready",
  "ready",
  "notice",
  "process_ended",
]);

/**
 * Writes the service's log to standard error, one line of JSON each, with the time in front. Without
 * `all`, only what the service failed at and whether it is ready.
 */
export function createServiceLog(
  cli: CliContext,
  { all, process }: { readonly all: boolean; readonly process?: number | undefined },
): Log {
  return (line) => {
    if (all || ALWAYS.has(line["event"])) {
      noticeJson(cli, { time: new Date().toISOString(), process, ...line });
    }
  };
}

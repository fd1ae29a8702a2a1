import type { Log } from "../http/metrics/request-log.ts";
import { type CliContext, noticeJson } from "./context.ts";

/** What is worth a line whether a log was asked for or not. */
const ALWAYS: ReadonlySet<unknown> = new Set(["failure", "not_ready", "ready", "notice"]);

/**
 * Writes the service's log to standard error, one line of JSON each, with the time in front. Without
 * `all`, only what the service failed at and whether it is ready.
 */
export function createServiceLog(cli: CliContext, { all }: { readonly all: boolean }): Log {
  return (line) => {
    if (all || ALWAYS.has(line["event"])) {
      noticeJson(cli, { time: new Date().toISOString(), ...line });
    }
  };
}

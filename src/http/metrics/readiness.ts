import { isRepriseError, RepriseError } from "../../core/errors.ts";
import { PROBE_FRESH_MS, PROBE_TIMEOUT_MS } from "../../core/limits.ts";
import { probeWrite } from "../../store/readiness.ts";
import { listSessions } from "../../store/records/sessions/list.ts";
import type { Store } from "../../store/store.ts";
import type { Observe } from "../observation.ts";
import { databaseReason, type Log, logFailure } from "./request-log.ts";
import { singleFlight } from "./single-flight.ts";

export interface Readiness {
  /**
   * Resolves while the service can store and read. However many ask, one probe runs at a time and
   * its result is used for a second.
   *
   * Error codes: `database_unavailable`, whatever the database's own failure was;
   * `shutting_down` once `retire` was called.
   */
  check(): Promise<void>;
  /** From now on the service is not ready: it is about to stop. */
  retire(): void;
}

/** Calls `log` when the service stops being ready and when it is ready again, not for every probe. */
export function createReadiness(
  store: Store,
  { log, observe }: { readonly log: Log; readonly observe: Observe },
): Readiness {
  const report = changesOnly(log);
  let retired = false;
  const probe = singleFlight({
    work: async () => {
      try {
        await store.write(probeWrite, null);
        await store.read(listSessions, { limit: 1 });
      } catch (error) {
        observe({ kind: "probe", result: "failed" });
        report.failed(error);
        throw notReady(error);
      }
      observe({ kind: "probe", result: "ready" });
      report.ready();
    },
    ttlMs: PROBE_FRESH_MS,
    timeoutMs: PROBE_TIMEOUT_MS,
    timeoutError: () => {
      observe({ kind: "probe", result: "late" });
      report.failed(LATE);
      return notReady();
    },
  });
  return {
    check: async () => {
      if (retired) {
        throw new RepriseError("shutting_down", "The service is shutting down. Use another node.");
      }
      await probe();
    },
    retire: () => {
      retired = true;
    },
  };
}

const LATE = new RepriseError(
  "database_unavailable",
  `The database has not answered a write within ${PROBE_TIMEOUT_MS / 1000} s. Check whether its server hangs or a lock is held.`,
);

/** The database's own error is only logged: this route needs no token. */
function notReady(cause?: unknown): RepriseError {
  return new RepriseError(
    "database_unavailable",
    "The service cannot store anything now. Try again.",
    { cause },
  );
}

/** Probes may be frequent, so only changes are logged. */
function changesOnly(log: Log) {
  let isReady = true;
  return {
    failed: (error: unknown): void => {
      if (!isReady) {
        return;
      }
      isReady = false;
      const code = isRepriseError(error) ? error.code : "internal";
      log({ level: "error", event: "not_ready", code, ...databaseReason(error) });
      if (code === "internal") {
        logFailure(log, error);
      }
    },
    ready: (): void => {
      if (!isReady) {
        isReady = true;
        log({ level: "info", event: "ready" });
      }
    },
  };
}

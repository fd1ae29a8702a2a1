import { isRepriseError } from "../core/errors.ts";

const REPEAT_MS = 60_000;

/** Reports a kind of failure once a minute: work that is repeated every second would fill a log. */
export function reportSeldom(report: (error: unknown) => void): (error: unknown) => void {
  const reported = new Map<string, number>();
  return (error) => {
    const kind = isRepriseError(error) ? error.code : String(error);
    const now = performance.now();
    for (const [each, at] of reported) {
      if (now - at > REPEAT_MS) {
        reported.delete(each);
      }
    }
    if (!reported.has(kind)) {
      reported.set(kind, now);
      report(error);
    }
  };
}

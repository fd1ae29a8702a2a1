import { plural } from "./text.ts";

interface ReportedPhase {
  readonly key: string;
  readonly title: string;
  readonly role: string;
}

/** Returns the last message of a run whose phases are all done; `attempts` has the last one of each phase by its key. */
export function runReport(
  phases: readonly ReportedPhase[],
  attempts: ReadonlyMap<string, number>,
): string {
  return [
    `All ${plural(phases.length, "phase")} of the plan are done.`,
    "",
    ...phases.map(({ key, title, role }) => {
      const attempt = attempts.get(key) ?? 1;
      return `- ${key}: ${title} (${role}${attempt === 1 ? "" : `, attempt ${attempt}`})`;
    }),
  ].join("\n");
}

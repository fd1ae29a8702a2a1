import {
  BEYOND_REPAIR,
  type DifferenceKind,
  LEFT_ALONE,
} from "../../../store/verify/difference.ts";
import type { Verification } from "../../../store/verify/verification.ts";

/**
 * Says what helps against the differences of sessions, a sentence for each remedy; if there are several, each names the kinds
 * of differences that it is about. `id` is the session's, or `<id>` for several.
 */
export function remedies(
  sessions: readonly Pick<Verification, "findings">[],
  id: string,
): readonly string[] {
  const byRemedy = new Map<Remedy, Set<DifferenceKind>>(REMEDIES.map((each) => [each, new Set()]));
  for (const { findings } of sessions) {
    // a session with one of these is not repaired at all
    const isLost = findings.some(({ kind }) => BEYOND_REPAIR.has(kind));
    for (const { kind } of findings) {
      byRemedy.get(isLost ? "restore" : remedyOf(kind))?.add(kind);
    }
  }
  const needed = [...byRemedy].filter(([, kinds]) => kinds.size > 0);
  return needed.map(([remedy, kinds]) => {
    const about = needed.length === 1 ? "" : `${[...kinds].join(", ")}: `;
    return `${about}${sentenceOf(remedy, id)}`;
  });
}

const REMEDIES = ["restore", "repair", "run_again", "none"] as const;
type Remedy = (typeof REMEDIES)[number];

function remedyOf(kind: DifferenceKind): Remedy {
  if (kind === "run") {
    return "run_again";
  }
  return LEFT_ALONE.has(kind) ? "none" : "repair";
}

function sentenceOf(remedy: Remedy, id: string): string {
  switch (remedy) {
    case "restore":
      return "The messages may be the only copy, so nothing is repaired; keep the file and restore a backup.";
    case "repair":
      return `Fix it with: reprise sessions repair ${id}`;
    case "run_again":
      return "A repair leaves a run unchanged, because nothing shows what its phases did. Restore a backup, or run the plan once more with `reprise plan run <plan> --again`.";
    case "none":
      return "A repair would leave this unchanged, because the right value is unknown.";
  }
}

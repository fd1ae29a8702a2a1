import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";

import { plural } from "../../core/text/text.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { realRoot } from "../../rules/paths/sandbox.ts";
import { HAND_IN_PLAN } from "../../rules/tools/built-in.ts";
import { cutText, findingLines, type ShownFinding } from "./finding-lines.ts";
import { storePlan } from "./store-plan.ts";
import { createQueue, reportFailure } from "./tool-result.ts";

/** Validates the JSON text of a phase plan for the session's folder. Throws for no text. */
export type CheckPlan = (content: string, repoPath: string) => Promise<CheckedPlan>;

export interface CheckedPlan {
  readonly findings: readonly ShownFinding[];
  /** Null if a finding is an error. */
  readonly plan: {
    readonly runId: string;
    /** As it is stored. */
    readonly text: string;
    /** Keys of the phases that can be done at the same time, wave after wave. */
    readonly waves: readonly (readonly string[])[];
  } | null;
}

/** Characters of a plan. */
const MAX_PLAN = 1_000_000;
/** Waves that are listed. */
const MAX_WAVES = 50;
const MAX_WAVE = 300;

const SCHEMA = z.object({
  content: z.string().min(1).max(MAX_PLAN).describe("the whole plan, one JSON object"),
});

/**
 * With this tool an agent that plans hands in its plan: what is wrong with it, each with its place, or where it
 * is stored. A call that is run again finds the plan that it stored before.
 */
export function handInPlanTool(input: {
  readonly repoPath: string;
  /** As of `SandboxFolder`. */
  readonly root?: string | null | undefined;
  readonly checkPlan: CheckPlan;
  readonly onPlan?: ((path: string) => void) | undefined;
  /** False if no plan is taken now. */
  readonly isPlanning: boolean;
}): StructuredToolInterface {
  const { repoPath, root, checkPlan, onPlan, isPlanning } = input;
  const inOrder = createQueue();
  const handIn = async ({ content }: { readonly content: string }): Promise<string> => {
    if (!isPlanning) {
      throw refusal("plans are handed in in planning mode, which is off or not possible here");
    }
    const { plan, findings } = await checkPlan(content, repoPath);
    const found = findingLines(findings);
    if (plan === null) {
      throw refusal(
        [
          "the plan is not valid and was not stored. Correct it and hand it in again:",
          ...found,
        ].join("\n"),
      );
    }
    const path = await storePlan(await realRoot(repoPath, root), plan);
    onPlan?.(path);
    const { waves } = plan;
    const size = `${plural(waves.flat().length, "phase")} in ${plural(waves.length, "wave")}`;
    return [`the plan is stored as ${path}: ${size}`, ...waveLines(waves), ...found].join("\n");
  };
  return tool(
    reportFailure((given: { readonly content: string }) => inOrder(() => handIn(given))),
    {
      name: HAND_IN_PLAN.name,
      description:
        'Hand in a phase plan (dev/phase-plan@1) as JSON text. It is checked: you get what is wrong with it, or the file in which it was stored. Fields: runId (a UUID), phaseKey ("planning"), phases, estimated_duration_hours (optional). Fields of a phase: key (lowercase letters, digits, hyphens), title, role (a persona), instructions (at least 10 characters), depends_on (optional, keys), expected_artifact (optional, {path, schema}).',
      schema: SCHEMA,
    },
  );
}

function waveLines(waves: readonly (readonly string[])[]): string[] {
  const left = waves.length - MAX_WAVES;
  return [
    ...waves
      .slice(0, MAX_WAVES)
      .map((keys, index) => cutText(`wave ${index + 1}: ${keys.join(", ")}`, MAX_WAVE)),
    ...(left > 0 ? [`(and ${plural(left, "more wave")})`] : []),
  ];
}

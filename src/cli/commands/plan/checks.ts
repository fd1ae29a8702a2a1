import { resolve } from "node:path";

import type { Finding } from "../../../artifacts/finding.ts";
import type { ArtifactText } from "../../../artifacts/read-artifact.ts";
import type { KnownNames } from "../../../artifacts/plans/plan-names.ts";
import type { SchemaRegistry } from "../../../artifacts/registry.ts";
import type { PlanReport } from "../../../artifacts/plans/validate-plan.ts";
import { personaFolderPaths } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

/** Names and schemas with which plans are checked in this folder. */
export interface PlanChecker {
  readonly registry: SchemaRegistry;
  /** Validates the plan in a file, or on standard input if the file is `-`. */
  check(file: string, expected?: Pick<KnownNames, "runId">): Promise<PlanReport>;
}

/**
 * Loads the schemas, the project's among them, and the names of the personas. The validator and
 * the YAML reader are loaded here and not with the command: they slow a start down.
 *
 * Error codes: `schema_invalid` for too many schemas, `file_unreadable` for their folder.
 */
export async function createPlanChecker(cli: CliContext): Promise<PlanChecker> {
  const [registry, { planNames }, { validatePlan }, { toReport }] = await Promise.all([
    loadFolderSchemas(cli),
    import("../../../rules/personas/plan-names.ts"),
    import("../../../artifacts/plans/validate-plan.ts"),
    import("../../../artifacts/finding.ts"),
  ]);
  const [schema, names] = await Promise.all([
    registry.phasePlan(),
    planNames(personaFolderPaths(cli), cli.cwd),
  ]);
  return {
    registry,
    async check(file, expected = {}) {
      const artifact = await readArtifact(cli, file);
      if ("code" in artifact) {
        return { ...toReport([artifact]), phases: 0, plan: null };
      }
      const known = { ...names, schemas: registry.ids, ...expected };
      return validatePlan(artifact.text, { syntax: artifact.syntax, schema, known });
    },
  };
}

/**
 * The schemas that come with Reprise and those of the folder in which the command runs: they are
 * checked in a thread that is stopped after two seconds, and can start nothing.
 */
export async function loadFolderSchemas(cli: CliContext): Promise<SchemaRegistry> {
  const [{ loadSchemas }, { createWorkerPool }] = await Promise.all([
    import("../../../artifacts/registry.ts"),
    import("../../../artifacts/project/worker-pool.ts"),
  ]);
  return loadSchemas(cli.cwd, createWorkerPool());
}

/** Error codes: `invalid_usage` if standard input is named twice. */
export function refuseTwice(files: readonly string[]): void {
  if (files.filter((file) => file === "-").length > 1) {
    throw wrongUsage("Standard input can be read only once; name - only once.");
  }
}

/** Reads a file, or standard input if it is `-`; a finding if it cannot be read. */
export async function readArtifact(cli: CliContext, file: string): Promise<ArtifactText | Finding> {
  const { readArtifactFile, readArtifactStream } =
    await import("../../../artifacts/read-artifact.ts");
  return file === "-" ? readArtifactStream(cli.stdin) : readArtifactFile(resolve(cli.cwd, file));
}

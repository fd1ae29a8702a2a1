export { type ArtifactOptions, validateArtifact } from "../artifacts/validate-artifact.ts";
export type { ArtifactReport, Finding } from "../artifacts/finding.ts";
export type { FindingCode } from "../core/schemas/artifact-schemas.ts";
export { type PhaseGraph, phaseGraph } from "../artifacts/plans/phase-graph.ts";
export type { ExpectedArtifact, Phase, PhasePlan } from "../artifacts/plans/phase-plan.ts";
export type { KnownNames } from "../artifacts/plans/plan-names.ts";
export { type PhasePlanOptions, validatePhasePlan } from "../artifacts/validate-artifact.ts";
export type { PlanReport } from "../artifacts/plans/validate-plan.ts";
export { ERROR_CODES, type ErrorCode, RepriseError } from "../core/errors.ts";

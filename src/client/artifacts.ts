import type {
  ArtifactReportInfo,
  DescribePlanRequest,
  PlanReportInfo,
  ValidateArtifactRequest,
} from "../core/schemas/artifact-schemas.ts";
import type { Connection } from "./connection.ts";

/** Checks of artifacts and phase plans. Nothing is stored, and an invalid text is an answer, not an error. */
export interface ArtifactCalls {
  /**
   * Validates the text of an artifact: of `dev/phase-plan@1`, unless a `schema` is named. Codes among
   * others: `schema_unknown`, `schema_invalid`, `schema_checks_busy`, `body_too_large`.
   */
  validateArtifact(text: string, options?: ValidateOptions): Promise<ArtifactReportInfo>;
  /**
   * Validates the text of a phase plan. If it is valid, `plan` has its waves, its longest chain and a
   * picture (SVG); else it is null. Code among others: `body_too_large`.
   */
  describePlan(text: string, options?: DescribeOptions): Promise<PlanReportInfo>;
}

/** `syntax` is `json` by default, or `yaml`. `signal` ends the call. */
export type DescribeOptions = Omit<DescribePlanRequest, "text"> & { readonly signal?: AbortSignal };
/** As `DescribeOptions`; `schema` is the id of the artifact's schema. */
export type ValidateOptions = Omit<ValidateArtifactRequest, "text"> & DescribeOptions;

export function artifactCalls(connection: Connection): ArtifactCalls {
  const post = async <T>(
    path: string,
    text: string,
    { signal, ...options }: ValidateOptions,
  ): Promise<T> => {
    const call = { body: { text, ...options }, signal };
    return connection.json<T>("POST", `/api/artifacts/${path}`, call);
  };
  return {
    validateArtifact: (text, options = {}) => post("validate", text, options),
    describePlan: (text, options = {}) => post("plan", text, options),
  };
}

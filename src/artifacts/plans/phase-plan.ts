// Made from schemas/dev/phase-plan@1.json by `node test/helpers/artifacts/plan-types.ts`.

/** Dev Phase Plan (`dev/phase-plan@1`). */
export interface PhasePlan {
  /** The same UUID as in the specification artifact of the run. */
  readonly runId: string;
  /** Key of the current phase, normally `planning`. */
  readonly phaseKey: string;
  readonly phases: readonly Phase[];
  /** Total estimated duration in hours. */
  readonly estimated_duration_hours?: number;
}

export interface Phase {
  /** Unique identifier of the phase: lowercase letters, digits, hyphens; starts with a letter. */
  readonly key: string;
  readonly title: string;
  /** Id of the responsible role. */
  readonly role: string;
  /** Concrete instructions for the responsible role. */
  readonly instructions: string;
  /** The artifact this phase produces. */
  readonly expected_artifact?: ExpectedArtifact;
  /** Keys of phases that must be finished before this one. */
  readonly depends_on?: readonly string[];
}

/** The artifact this phase produces. */
export interface ExpectedArtifact {
  /** Path of the produced file. */
  readonly path: string;
  /** Id of the JSON Schema of the produced artifact. */
  readonly schema: string;
}

import { type Static, Type } from "typebox";

import { closed, nullable, oneOf } from "./field-schemas.ts";
import { MAX_NAME_LENGTH } from "../limits.ts";

/** Artifacts and phase plans, in the HTTP API. */

/** Subjects of a finding, as one closed set; programs compare the code, never the message. */
export const FINDING_CODES = [
  // the file as a whole (always at line 1, column 1, except `not_utf8`)
  "file_unreadable",
  "file_too_large",
  "not_utf8",
  // the text
  "malformed_json",
  "malformed_yaml",
  "too_deep",
  "too_many_values",
  "duplicate_property",
  // the schema
  "missing_property",
  "unknown_property",
  "wrong_type",
  "too_short",
  "pattern_mismatch",
  "format_mismatch",
  "below_minimum",
  "schema_mismatch",
  "schema_unpublished",
  "check_stopped",
  // the plan
  "duplicate_key",
  "unknown_dependency",
  "unknown_phase",
  "checks_unread",
  "self_dependency",
  "circular_dependency",
  "more_cycles",
  "duplicate_dependency",
  "artifact_path_empty",
  "artifact_path_absolute",
  "artifact_path_outside",
  "artifact_path_protected",
  "artifact_path_shared",
  "unknown_role",
  "unknown_schema",
  "run_id_mismatch",
  "too_many_findings",
] as const;

export type FindingCode = (typeof FINDING_CODES)[number];

const text = {
  text: Type.String({ description: "the unchanged text of the artifact's file" }),
  syntax: Type.Optional(oneOf(["json", "yaml"])),
};

export const ValidateArtifactRequest = Type.Object(
  {
    ...text,
    schema: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_NAME_LENGTH,
        description: "the id of the artifact's schema",
      }),
    ),
  },
  closed,
);
export type ValidateArtifactRequest = Static<typeof ValidateArtifactRequest>;

export const DescribePlanRequest = Type.Object(text, closed);
export type DescribePlanRequest = Static<typeof DescribePlanRequest>;

const FindingInfo = Type.Object(
  {
    code: oneOf(FINDING_CODES),
    severity: oneOf(["error", "warning"]),
    pointer: Type.String({ description: "JSON pointer into the artifact" }),
    line: Type.Integer({ minimum: 1 }),
    column: Type.Integer({ minimum: 1, description: "In UTF-16 code units." }),
    message: Type.String(),
    suggestion: Type.Optional(Type.String()),
    first_line: Type.Optional(Type.Integer({ minimum: 1 })),
    path: Type.Optional(Type.Unsafe<readonly string[]>(Type.Array(Type.String()))),
  },
  closed,
);
export type FindingInfo = Static<typeof FindingInfo>;

const report = {
  valid: Type.Boolean({ description: "Whether no finding is an error." }),
  findings: Type.Array(FindingInfo),
};

export const ArtifactReportInfo = Type.Object({ schema: Type.String(), ...report }, closed);
export type ArtifactReportInfo = Static<typeof ArtifactReportInfo>;

const keys = () => Type.Unsafe<readonly string[]>(Type.Array(Type.String()));

const PhaseInfo = Type.Object(
  {
    key: Type.String(),
    title: Type.String(),
    role: Type.String(),
    wave: Type.Integer({ minimum: 1, description: "The first wave is 1." }),
    depends_on: keys(),
    expected_artifact: nullable(
      Type.Object({ path: Type.String(), schema: Type.String() }, closed),
    ),
  },
  closed,
);
export type PhaseInfo = Static<typeof PhaseInfo>;

/** A valid phase plan, and the order that its dependencies leave. */
const pixels = () => Type.Number({ minimum: 0 });
const PlanBox = Type.Object(
  { key: Type.String(), x: pixels(), y: pixels(), width: pixels(), height: pixels() },
  closed,
);
export type PlanBox = Static<typeof PlanBox>;

export const PlanInfo = Type.Object(
  {
    run_id: Type.String(),
    phase_key: Type.String(),
    estimated_duration_hours: nullable(Type.Number({ minimum: 0 })),
    phases: Type.Array(PhaseInfo, { description: "In the order of the plan." }),
    waves: Type.Unsafe<readonly (readonly string[])[]>(
      Type.Array(Type.Array(Type.String()), {
        description: "Keys of phases that can run side by side, wave after wave.",
      }),
    ),
    longest_chain: Type.Unsafe<readonly string[]>(
      Type.Array(Type.String(), {
        description: "The phases that need the most waves; each depends on the one before it.",
      }),
    ),
    picture: nullable(
      Type.String({
        description:
          "SVG 1.1 without scripts. Null for more than 400 phases, 2,000 dependencies or 300,000 letters in their names: `reprise plan graph --format svg` draws it.",
      }),
    ),
    boxes: Type.Unsafe<readonly PlanBox[]>(
      Type.Array(PlanBox, {
        description: "Where the phases are in the picture, in its pixels; none without a picture.",
      }),
    ),
  },
  closed,
);
export type PlanInfo = Static<typeof PlanInfo>;

export const PlanReportInfo = Type.Object(
  {
    ...report,
    plan: nullable(PlanInfo),
  },
  closed,
);
export type PlanReportInfo = Static<typeof PlanReportInfo>;

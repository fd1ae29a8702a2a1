import { type Static, Type } from "typebox";

import { PHASE_STATES, SHOWN_PHASES } from "../plan-runs.ts";
import { ANSWERERS, APPROVAL_CHOICES } from "../questions.ts";
import { closed, nullable, oneOf } from "./field-schemas.ts";
import { costFields } from "./usage-schemas.ts";

const time = () => nullable(Type.String({ format: "date-time" }));

const PhaseError = Type.Object({ code: Type.String(), sentence: Type.String() }, closed);

const PhaseFile = Type.Object(
  {
    path: Type.String(),
    undone: Type.Boolean({ description: "Whether all changes of the path were taken back." }),
  },
  closed,
);

/** The artifact that a phase has to hand in. */
const PhaseArtifact = Type.Object(
  {
    path: Type.String(),
    schema: Type.String(),
    hash: nullable(
      Type.String({ description: "SHA-256 of what the attempt handed in; null before it has." }),
    ),
  },
  closed,
);

/** A command of the checks of a phase that was run. */
const RanCommand = Type.Object(
  {
    argv: Type.Unsafe<readonly string[]>(Type.Array(Type.String())),
    code: nullable(
      Type.Integer({ description: "The exit code; null if a signal or a limit ended it." }),
    ),
    ms: Type.Integer({ minimum: 0 }),
    failure: nullable(
      Type.String({
        description: "How it did not pass, such as `exit code 1`; null if it passed.",
      }),
    ),
  },
  closed,
);

/** The last run of the checks of a phase. */
const PhaseChecks = Type.Object(
  {
    attempt: Type.Integer({ minimum: 1, description: "The attempt that they were run for." }),
    corrections: Type.Integer({
      minimum: 0,
      description: "Messages about what its result lacked that the sub-agent had got before.",
    }),
    artifact_hash: nullable(
      Type.String({
        description: "SHA-256 of the artifact that they were run for; null without one.",
      }),
    ),
    commands: Type.Unsafe<readonly Static<typeof RanCommand>[]>(
      Type.Array(RanCommand, { description: "In their order; the first that fails is the last." }),
    ),
  },
  closed,
);

/** What the sub-agent of a phase did last. */
const PhaseAction = Type.Object(
  {
    kind: oneOf(["call", "message"]),
    text: Type.String({
      description: "The tool with the subject of the call, or the message: one line, cut.",
    }),
    at: Type.String({ format: "date-time" }),
  },
  closed,
);

/** Decision of a person about an attempt of a phase. */
const PhaseApproval = Type.Object(
  {
    attempt: Type.Integer({ minimum: 1 }),
    answer: oneOf(APPROVAL_CHOICES),
    note: nullable(Type.String()),
    by: oneOf(ANSWERERS),
    who: nullable(
      Type.String({
        description: "`user@host`, or `token`; null if this database does not know it.",
      }),
    ),
    at: Type.String({ format: "date-time" }),
    counts: Type.Boolean({
      description: "False for one of an import or a copy: it was not given in this database.",
    }),
  },
  closed,
);

/** A phase of a run, as a person sees it. */
export const RunPhase = Type.Object(
  {
    key: Type.String(),
    title: Type.String(),
    role: Type.String(),
    depends_on: Type.Unsafe<readonly string[]>(
      Type.Array(Type.String(), { description: "Keys of phases." }),
    ),
    state: oneOf(PHASE_STATES),
    shown: Type.Unsafe<(typeof SHOWN_PHASES)[number]>({
      ...oneOf(SHOWN_PHASES),
      description: "The state, with what follows from other phases, questions and the run.",
    }),
    attempt: Type.Integer({ minimum: 1 }),
    session_id: nullable(
      Type.String({
        format: "uuid",
        description: "Session of the attempt's sub-agent; null before it begins.",
      }),
    ),
    model: nullable(Type.String({ description: "The model that answered last." })),
    ...costFields,
    files: Type.Array(PhaseFile, {
      description: "Paths that were changed, of all attempts and their sub-agents; 100 at most.",
    }),
    files_changed: Type.Integer({ minimum: 0, description: "The number of all such paths." }),
    artifact: Type.Unsafe<Static<typeof PhaseArtifact> | null>(
      Type.Union([PhaseArtifact, Type.Null()]),
    ),
    checked: Type.Unsafe<Static<typeof PhaseChecks> | null>(
      Type.Union([PhaseChecks, Type.Null()], {
        description: "The last run of its checks, passed or not; null before any.",
      }),
    ),
    last_action: Type.Unsafe<Static<typeof PhaseAction> | null>(
      Type.Union([PhaseAction, Type.Null()]),
    ),
    approvals: Type.Array(PhaseApproval, { description: "The earliest first." }),
    error: Type.Unsafe<Static<typeof PhaseError> | null>(Type.Union([PhaseError, Type.Null()])),
    begun_at: time(),
    ended_at: time(),
  },
  { ...closed, $id: "RunPhase" },
);
export type RunPhase = Static<typeof RunPhase>;

import { type Static, Type } from "typebox";

import { EXCHANGE_STATES } from "../exchanges.ts";
import {
  MAX_PARALLEL,
  MAX_RETRIES,
  PHASE_STATES,
  type PlanChecks,
  SHOWN_PHASES,
} from "../plan-runs.ts";
import { ANSWERERS, APPROVAL_CHOICES } from "../questions.ts";
import { closed, nullable, oneOf } from "./field-schemas.ts";
import { ExchangeInfo, named } from "./schemas.ts";
import { costFields } from "./usage-schemas.ts";

/** Runs of plans, in the HTTP API and on the command line. */

const uuid = () => Type.String({ format: "uuid" });
const time = () => nullable(Type.String({ format: "date-time" }));
const count = () => Type.Integer({ minimum: 0 });
const keys = (description: string) =>
  Type.Unsafe<readonly string[]>(Type.Array(Type.String(), { description }));

const summary = {
  session_id: uuid(),
  run_id: Type.String({ description: "The plan's `runId`." }),
  number: Type.Integer({
    minimum: 1,
    description: "How often the plan was begun in the project, this time included.",
  }),
  state: Type.Unsafe<(typeof EXCHANGE_STATES)[number]>({
    ...oneOf(EXCHANGE_STATES),
    description: "Of the run's last exchange; `queued` before the first one.",
  }),
  phases_done: count(),
  phases_total: count(),
  asking: keys("Keys of the phases that wait for a person."),
};

/** A run in a list. */
export const RunSummary = Type.Object(summary, { ...closed, $id: "RunSummary" });
export type RunSummary = Static<typeof RunSummary>;

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
    ms: count(),
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

/** Last action of a phase's sub-agent. */
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
    depends_on: keys("Keys of phases."),
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

/** A message in a run's session, which no model gets. */
const UnreadMessage = Type.Object(
  {
    seq: Type.Integer({ minimum: 1 }),
    ts: Type.String({ format: "date-time" }),
    content: Type.String({ description: "Its first 200 characters." }),
  },
  closed,
);

const artifact = Type.Object({ path: Type.String(), schema: Type.String() }, closed);

/** A valid phase plan. */
const Plan = Type.Object(
  {
    runId: Type.String(),
    phaseKey: Type.String(),
    phases: Type.Unsafe<readonly PlanPhase[]>(
      Type.Array(
        Type.Object(
          {
            key: Type.String(),
            title: Type.String(),
            role: Type.String(),
            instructions: Type.String(),
            expected_artifact: Type.Optional(artifact),
            depends_on: Type.Optional(Type.Array(Type.String())),
          },
          closed,
        ),
      ),
    ),
    estimated_duration_hours: Type.Optional(Type.Number({ minimum: 0 })),
  },
  closed,
);

interface PlanPhase {
  readonly key: string;
  readonly title: string;
  readonly role: string;
  readonly instructions: string;
  readonly expected_artifact?: { readonly path: string; readonly schema: string };
  readonly depends_on?: readonly string[];
}

const commands = Type.Array(Type.Array(Type.String()));

/** Commands that decide whether phases are done. */
const Checks = Type.Object(
  {
    phases: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object({ setup: Type.Optional(commands), checks: commands }, closed),
      ),
    ),
    all: Type.Optional(commands),
  },
  closed,
);

const ChecksConsent = Type.Object(
  {
    who: Type.String({ description: "`user@host`, or `token`." }),
    at: Type.String({ format: "date-time" }),
  },
  closed,
);

const options = {
  parallel: Type.Integer({ minimum: 1, maximum: MAX_PARALLEL }),
  retries: Type.Integer({ minimum: 0, maximum: MAX_RETRIES }),
  approve: keys("Keys of the phases that a person has to approve."),
};

/** A run with all that is known of it. */
export const RunDetail = Type.Object(
  {
    ...summary,
    path: nullable(Type.String({ description: "Where the plan was read; only shown." })),
    plan: Plan,
    checks: Type.Unsafe<PlanChecks | null>(
      Type.Union([Checks, Type.Null()], { description: "`reprise/plan-checks@1`" }),
    ),
    checks_consent: Type.Unsafe<Static<typeof ChecksConsent> | null>(
      Type.Union([ChecksConsent, Type.Null()], {
        description: "Who let the checks be run in this database; null for nobody that is known.",
      }),
    ),
    options: Type.Object(options, closed),
    exchange: Type.Unsafe<ExchangeInfo | null>(Type.Union([named(ExchangeInfo), Type.Null()])),
    phases: Type.Array(named(RunPhase), { description: "In the order of the plan." }),
    unread: Type.Array(UnreadMessage, {
      description: "Messages in the run's session, which no model gets; the latest 20.",
    }),
  },
  { ...closed, $id: "RunDetail" },
);
export type RunDetail = Static<typeof RunDetail>;

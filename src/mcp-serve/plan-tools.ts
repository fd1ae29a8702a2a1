import { Type } from "typebox";

import { ValidateArtifactRequest } from "../core/schemas/artifact-schemas.ts";
import { closed, text } from "../core/schemas/field-schemas.ts";
import { PlanRunsQuery } from "../core/schemas/plan-run-requests.ts";
import type { RunPhase } from "../core/schemas/plan-run-schemas.ts";
import { MAX_NAME_LENGTH } from "../core/limits.ts";
import {
  beginning,
  fitting,
  MAX_LINE_CHARS,
  MAX_NAMED,
  MAX_RESULT_CHARS,
  pieceOf,
} from "./bounds.ts";
import type { Shown } from "./shown.ts";
import { readingTool } from "./tool.ts";

const DEFAULT_RUNS = 20;

export const validateTool = readingTool({
  name: "plan_validate",
  title: "Validate a phase plan",
  description:
    "Checks the text of a phase plan (`dev/phase-plan@1`), or of the artifact of another `schema`, and returns findings with line and column. Nothing is stored.",
  input: ValidateArtifactRequest,
  run: async ({ text: given, ...options }, { client, shown }) => {
    const { schema, valid, findings } = await client.validateArtifact(given, options);
    const taken = fitting(
      findings,
      ({ code, severity, pointer, line, column, message, suggestion }) => ({
        code,
        severity,
        pointer: beginning(shown.text(pointer), MAX_LINE_CHARS),
        line,
        column,
        message: shown.text(message),
        ...(suggestion === undefined ? {} : { suggestion: shown.text(suggestion) }),
      }),
    );
    return {
      schema: shown.text(schema),
      valid,
      findings: taken,
      left_out: findings.length - taken.length,
    };
  },
});

const runId = Type.String({
  ...text(),
  minLength: 1,
  maxLength: 64,
  description: "the plan's `runId`, or the id of the run's session; without it, runs are listed",
});

export const statusTool = readingTool({
  name: "plan_status",
  title: "Show runs of plans",
  description:
    "Shows how far a run of a phase plan is, phase by phase; without `id`, lists the runs, the newest first. `read_on` has the arguments for what follows.",
  input: Type.Object(
    {
      id: Type.Optional(runId),
      after_phase: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 10_000,
          description: "with `id`: phases to leave out from the beginning of the plan",
        }),
      ),
      state: PlanRunsQuery.properties.state,
      cursor: PlanRunsQuery.properties.cursor,
    },
    closed,
  ),
  run: async ({ id, after_phase = 0, ...where }, { client, shown }) => {
    if (id === undefined) {
      const { runs, next } = await client.listPlanRuns({ limit: DEFAULT_RUNS, ...where });
      return {
        runs: runs.map(({ asking, ...run }) => ({
          ...run,
          waits_for_person: keysOf(asking, shown),
        })),
        read_on: next === null ? null : { cursor: next },
      };
    }
    const { session_id, run_id, number, state, phases_done, phases_total, asking, ...run } =
      await client.getPlanRun(id);
    const phases = fitting(run.phases.slice(after_phase), (phase) => shownPhase(phase, shown));
    const next = after_phase + phases.length;
    return {
      run: {
        session_id,
        run_id,
        number,
        state,
        phases_done,
        phases_total,
        waits_for_person: keysOf(asking, shown),
      },
      phases,
      read_on: next < run.phases.length ? { id: session_id, after_phase: next } : null,
    };
  },
});

function keysOf(keys: readonly string[], shown: Shown): readonly string[] {
  return keys.slice(0, MAX_NAMED).map((key) => beginning(shown.text(key), MAX_LINE_CHARS));
}

function shownPhase(phase: RunPhase, shown: Shown) {
  const { key, title, shown: state, attempt, session_id, error, last_action, begun_at } = phase;
  return {
    key: shown.text(key),
    title: beginning(shown.text(title), MAX_LINE_CHARS),
    state,
    attempt,
    session_id,
    begun_at,
    ended_at: phase.ended_at,
    files_changed: phase.files_changed,
    artifact: phase.artifact === null ? null : shown.text(phase.artifact.path),
    error:
      error === null
        ? null
        : { code: error.code, detail: beginning(shown.text(error.sentence), MAX_LINE_CHARS) },
    last_action:
      last_action === null ? null : beginning(shown.text(last_action.text), MAX_LINE_CHARS),
  };
}

const SCHEMAS = "/api/artifacts/schemas";

interface SchemaEntry {
  readonly id: string | null;
  readonly title: string | null;
  readonly published: boolean;
}

export const schemaTool = readingTool({
  name: "schema_get",
  title: "Get a schema",
  description:
    "Returns the JSON Schema of an artifact, such as `dev/phase-plan@1`, as text; without `id`, lists the schemas. A long one is read on with `next_offset` as `offset`.",
  input: Type.Object(
    {
      id: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    },
    closed,
  ),
  run: async ({ id, offset = 0 }, { connection, shown }) => {
    if (id === undefined) {
      const schemas = await connection.json<readonly SchemaEntry[]>("GET", SCHEMAS);
      return {
        schemas: fitting(schemas, (entry) => ({
          id: entry.id === null ? null : shown.text(entry.id),
          title: entry.title === null ? null : beginning(shown.text(entry.title), MAX_LINE_CHARS),
          published: entry.published,
        })),
      };
    }
    const schema = await connection.text(`${SCHEMAS}/${encodeURIComponent(id)}`);
    const { text: piece, next_offset } = pieceOf(shown.text(schema), offset, MAX_RESULT_CHARS);
    return { id: shown.text(id), schema: piece, next_offset };
  },
});

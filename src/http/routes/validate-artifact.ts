import { Type } from "typebox";

import type { SchemaRegistry } from "../../artifacts/registry.ts";
import { FINDING_CODES } from "../../artifacts/finding.ts";
import { RepriseError } from "../../core/errors.ts";
import { MAX_BODY_BYTES, MAX_CONTENT_BYTES, MAX_NAME_LENGTH } from "../../core/limits.ts";
import { oneOf } from "../../core/field-schemas.ts";
import { NoQuery } from "../../core/query-schemas.ts";
import type { Api } from "./api.ts";
import { json, problems } from "../responses.ts";

/** Reads the known schemas, once; while one is broken, again at the next call. */
export type Schemas = () => Promise<SchemaRegistry>;

const closed = { additionalProperties: false } as const;

/** UTF-8 bytes of one artifact: reading YAML takes several times as long as reading JSON. */
const MAX_ARTIFACT_BYTES = { json: MAX_CONTENT_BYTES, yaml: MAX_CONTENT_BYTES / 8 };

/**
 * What one artifact may hold. While it is validated nothing else is answered, and bytes do not say
 * how long that takes: the worst texts of this size took 125 ms on an idle machine.
 */
const LIMITS = { values: 100_000, lexemes: 50_000 };

const OFFLINE = "check the file with `reprise plan validate`, which takes 10 MiB";
const TOO_LARGE = {
  json: `The artifact is too large: JSON of at most 1 MiB is taken here; ${OFFLINE}.`,
  yaml: `The artifact is too large: YAML of at most 128 KiB is taken here; send it as JSON (1 MiB at most), or ${OFFLINE}.`,
};

const PHASE_PLAN = "dev/phase-plan@1";

const ValidateArtifactRequest = Type.Object(
  {
    text: Type.String({ description: "the unchanged text of the artifact's file" }),
    syntax: Type.Optional(oneOf(["json", "yaml"])),
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

const FindingSchema = Type.Object(
  {
    code: Type.Unsafe<(typeof FINDING_CODES)[number]>({ type: "string", enum: [...FINDING_CODES] }),
    severity: Type.Unsafe<"error" | "warning">({ type: "string", enum: ["error", "warning"] }),
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

const ArtifactReport = Type.Object(
  {
    schema: Type.String(),
    valid: Type.Boolean({ description: "Whether no finding is an error." }),
    findings: Type.Array(FindingSchema),
  },
  closed,
);

const schema = {
  operationId: "validateArtifact",
  summary: "Validates an artifact and reports every finding with its position; nothing is stored",
  description:
    "Without `syntax` the text is JSON, and without `schema` it is a phase plan. Answers 200 for an invalid artifact too: `valid` is false then, and `findings` say where and why. Nothing is stored.",
  querystring: NoQuery,
  body: ValidateArtifactRequest,
  response: {
    200: json(ArtifactReport, { description: "What was found, whether it is valid or not." }),
    ...problems({
      404: "No schema has this id.",
      413: "The text is more than 1 MiB of JSON or 128 KiB of YAML.",
      415: "The body is not JSON.",
    }),
  },
};

export function validateArtifactRoute(app: Api, schemas: Schemas): void {
  app.route({
    method: "POST",
    url: "/api/artifacts/validate",
    schema,
    config: { open: true },
    bodyLimit: MAX_BODY_BYTES,
    handler: async ({ body: { text, syntax = "json", schema: id = PHASE_PLAN } }) => {
      if (Buffer.byteLength(text) > MAX_ARTIFACT_BYTES[syntax]) {
        throw new RepriseError("body_too_large", TOO_LARGE[syntax]);
      }
      const registry = await schemas();
      const { validateWith } = await import("../../artifacts/check-artifact.ts");
      const report = await validateWith({ text, syntax, limits: LIMITS }, { id, registry });
      return { schema: id, valid: report.valid, findings: [...report.findings] };
    },
  });
}

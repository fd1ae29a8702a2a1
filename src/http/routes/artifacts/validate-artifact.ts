import {
  ArtifactReportInfo,
  ValidateArtifactRequest,
} from "../../../core/schemas/artifact-schemas.ts";
import { MAX_BODY_BYTES } from "../../../core/limits.ts";
import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { json, problems } from "../../responses.ts";
import type { Api } from "../api.ts";
import type { UnsentAnswers } from "../../unsent/unsent-answers.ts";
import { ARTIFACT_LIMITS, refuseLarge, type Schemas } from "./artifact-text.ts";

const PHASE_PLAN = "dev/phase-plan@1";

const schema = {
  operationId: "validateArtifact",
  summary: "Validates an artifact and reports every finding with its position; nothing is stored",
  description:
    "Without `syntax` the text is JSON, and without `schema` it is a phase plan. Answers 200 for an invalid artifact too: `valid` is false then, and `findings` say where and why. Nothing is stored.",
  querystring: NoQuery,
  body: ValidateArtifactRequest,
  response: {
    200: json(ArtifactReportInfo, { description: "What was found, whether it is valid or not." }),
    ...problems({
      404: "No schema has this id.",
      413: "The text is more than 1 MiB of JSON or 128 KiB of YAML.",
      415: "The body is not JSON.",
    }),
  },
};

export function validateArtifactRoute(
  app: Api,
  schemas: Schemas,
  { inTurn }: Pick<UnsentAnswers, "inTurn">,
): void {
  app.route({
    method: "POST",
    url: "/api/artifacts/validate",
    schema,
    config: { needs: "read" },
    bodyLimit: MAX_BODY_BYTES,
    preHandler: inTurn,
    handler: async ({ body: { text, syntax = "json", schema: id = PHASE_PLAN } }) => {
      refuseLarge(text, syntax);
      const registry = await schemas();
      const { validateWith } = await import("../../../artifacts/check-artifact.ts");
      const artifact = { text, syntax, limits: ARTIFACT_LIMITS };
      const report = await validateWith(artifact, { id, registry });
      return { schema: id, valid: report.valid, findings: [...report.findings] };
    },
  });
}

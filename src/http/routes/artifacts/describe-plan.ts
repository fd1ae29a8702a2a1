import { DescribePlanRequest, PlanReportInfo } from "../../../core/schemas/artifact-schemas.ts";
import { MAX_BODY_BYTES } from "../../../core/limits.ts";
import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { json, problems } from "../../responses.ts";
import type { Api } from "../api.ts";
import type { UnsentAnswers } from "../../unsent/unsent-answers.ts";
import { ARTIFACT_LIMITS, refuseLarge, type Schemas } from "./artifact-text.ts";

const schema = {
  operationId: "describePlan",
  summary: "Validates a phase plan and describes it: waves, longest chain and a picture",
  description:
    "Without `syntax` the text is JSON. Answers 200 for an invalid plan too: `plan` is null then, and `findings` are those of `POST /api/artifacts/validate`. Nothing is stored.",
  querystring: NoQuery,
  body: DescribePlanRequest,
  response: {
    200: json(PlanReportInfo, { description: "What was found, and the plan if it is valid." }),
    ...problems({
      413: "The text is more than 1 MiB of JSON or 128 KiB of YAML.",
      415: "The body is not JSON.",
    }),
  },
};

export function describePlanRoute(
  app: Api,
  schemas: Schemas,
  { inTurn }: Pick<UnsentAnswers, "inTurn">,
): void {
  app.route({
    method: "POST",
    url: "/api/artifacts/plan",
    schema,
    config: { needs: "read" },
    bodyLimit: MAX_BODY_BYTES,
    preHandler: inTurn,
    handler: async ({ body: { text, syntax = "json" } }) => {
      refuseLarge(text, syntax);
      const registry = await schemas();
      const [{ validatePlan }, { describePlan }] = await Promise.all([
        import("../../../artifacts/plans/validate-plan.ts"),
        import("../../../artifacts/plans/describe-plan.ts"),
      ]);
      const schema = await registry.phasePlan();
      const { valid, findings, plan } = validatePlan(text, {
        syntax,
        limits: ARTIFACT_LIMITS,
        schema,
        known: { schemas: registry.ids },
      });
      return { valid, findings: [...findings], plan: plan === null ? null : describePlan(plan) };
    },
  });
}

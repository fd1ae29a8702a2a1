import { Type } from "typebox";

import { MAX_NAME_LENGTH } from "../../../core/limits.ts";
import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import type { UnsentAnswers } from "../../unsent/unsent-answers.ts";
import type { Api } from "../api.ts";
import type { Schemas } from "./artifact-text.ts";
import { describePlanRoute } from "./describe-plan.ts";
import { validateArtifactRoute } from "./validate-artifact.ts";
import { json, NOT_MODIFIED, problems, REQUEST_ID } from "../../responses.ts";

const SCHEMA_TYPE = "application/schema+json";

const closed = { additionalProperties: false } as const;

const Entry = Type.Object(
  {
    id: Type.Unsafe<string | null>({
      type: ["string", "null"],
      description: "Null for a broken file whose id is unknown.",
    }),
    title: Type.Unsafe<string | null>({ type: ["string", "null"] }),
    published: Type.Boolean({ description: "False if only the id is known." }),
    source: Type.Unsafe<"built-in" | "project">({ type: "string", enum: ["built-in", "project"] }),
    error: Type.Optional(
      Type.String({ description: "Of a schema that cannot be used: its file and what is wrong." }),
    ),
  },
  closed,
);

/** The artifacts' schemas, and validation against them. */
export function artifactRoutes(
  app: Api,
  schemas: Schemas,
  unsent: Pick<UnsentAnswers, "inTurn">,
): void {
  listSchemasRoute(app, schemas);
  readSchemaRoutes(app, schemas);
  validateArtifactRoute(app, schemas, unsent);
  describePlanRoute(app, schemas, unsent);
}

function listSchemasRoute(app: Api, schemas: Schemas): void {
  const schema = {
    operationId: "listSchemas",
    summary: "Lists the artifacts' schemas by their ids",
    description:
      "The schemas that come with Reprise, and those of the project that the service was given. A broken one has its error.",
    querystring: NoQuery,
    response: {
      200: json(Type.Array(Entry), { description: "All that are known." }),
      ...NOT_MODIFIED,
      ...problems(),
    },
  };
  app.route({
    method: "GET",
    url: "/api/artifacts/schemas",
    schema,
    handler: async () => {
      const { listedSchemas } = await import("../../../artifacts/listed-schemas.ts");
      return listedSchemas(await schemas());
    },
  });
}

/** Most ids hold a slash: both `dev%2Fphase-plan%401` and `dev/phase-plan@1` are read. */
function readSchemaRoutes(app: Api, schemas: Schemas): void {
  for (const { operationId, steps } of [
    { operationId: "getSchema", steps: ["id"] },
    { operationId: "getSchemaByPath", steps: ["group", "name"] },
  ]) {
    const text = () => Type.String({ maxLength: MAX_NAME_LENGTH });
    const params = Type.Object(Object.fromEntries(steps.map((step) => [step, text()])));
    app.route({
      method: "GET",
      url: ["/api/artifacts/schemas", ...steps].join("/:"),
      schema: {
        operationId,
        summary: "Returns the JSON Schema of an artifact, byte for byte as published",
        description: "An id with a slash may be sent unchanged or percent-encoded.",
        params,
        querystring: NoQuery,
        response: {
          200: {
            description: "The schema.",
            headers: { "X-Request-Id": REQUEST_ID },
            content: { [SCHEMA_TYPE]: { schema: { type: "object" } } },
          },
          ...NOT_MODIFIED,
          ...problems({ 404: "No schema has this id, or its fields were never published." }),
        },
      },
      handler: async (request, reply) => {
        const id = steps.map((step) => request.params[step]).join("/");
        reply.type(SCHEMA_TYPE);
        return (await schemas()).read(id);
      },
    });
  }
}

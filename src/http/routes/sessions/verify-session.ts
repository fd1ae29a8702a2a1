import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { named } from "../../../core/schemas/schemas.ts";
import { VerificationInfo } from "../../../core/schemas/service-schemas.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import { verificationOf } from "../../../store/verify/verification.ts";
import type { LargeReads } from "../../guards/large-reads.ts";
import { json, problems } from "../../responses.ts";
import { type Api, SESSION_PROBLEMS, SessionParams, type SessionService } from "../api.ts";

const schema = {
  operationId: "verifySession",
  summary: "Compares the messages of a session with the agent's checkpoints",
  description:
    "Changes nothing. Sub-agents' sessions are compared by separate calls. `reprise sessions repair` fixes most findings.",
  params: SessionParams,
  querystring: NoQuery,
  response: {
    200: json(named(VerificationInfo), { description: "What differs, if anything does." }),
    ...problems(SESSION_PROBLEMS),
  },
};

export function verifySessionRoute(
  app: Api,
  { store }: SessionService,
  { inTurn }: { readonly inTurn: LargeReads },
): void {
  app.route({
    method: "GET",
    url: "/api/sessions/:id/verify",
    schema,
    preHandler: inTurn,
    handler: async ({ params }) => {
      const { id } = await store.read(resolveSession, { reference: params.id });
      const { findings, ...rest } = await verificationOf(store, id);
      return { ...rest, findings: findings.map((finding) => ({ ...finding })) };
    },
  });
}

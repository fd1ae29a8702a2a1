import { Type } from "typebox";

import {
  EVENT_REASONING_BYTES,
  MAX_REASONING_BYTES,
  MESSAGES_PER_READ,
} from "../../../core/limits.ts";
import { ReasoningQuery } from "../../../core/schemas/query-schemas.ts";
import { named, ReasoningInfo } from "../../../core/schemas/schemas.ts";
import { cutToBytes } from "../../../core/text/cut-to-bytes.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import { readReasoning } from "../../../store/verify/read-reasoning.ts";
import { json, problems } from "../../responses.ts";
import { type Api, SESSION_PROBLEMS, SessionParams, type SessionService } from "../api.ts";

const schema = {
  operationId: "listReasoning",
  summary: "Returns what the model thought before answers of a session",
  description:
    "Of the latest 200 answers between `after_seq` and `before_seq`, archived ones too, those of which something is stored, ascending by `seq`. It lies in the agent's checkpoints: an answer that was stored without the agent has none. Links do not show it.",
  params: SessionParams,
  querystring: ReasoningQuery,
  response: {
    200: json(Type.Array(named(ReasoningInfo)), { description: "Reasoning by answers." }),
    ...problems(SESSION_PROBLEMS),
  },
};

export function listReasoningRoute(app: Api, { store }: Pick<SessionService, "store">): void {
  app.route({
    method: "GET",
    url: "/api/sessions/:id/reasoning",
    schema,
    handler: async ({ params, query }) => {
      const { id: session_id } = await store.read(resolveSession, { reference: params.id });
      const {
        after_seq = 0,
        before_seq = Number.MAX_SAFE_INTEGER,
        max_bytes = EVENT_REASONING_BYTES,
      } = query;
      const found = await store.read(readReasoning, {
        session_id,
        after_seq,
        before_seq,
        limit: MESSAGES_PER_READ,
      });
      const max = Math.min(max_bytes, Math.floor(MAX_REASONING_BYTES / Math.max(1, found.length)));
      return found.map(({ text, ...rest }) => ({
        ...rest,
        text: cutToBytes(text, max),
        bytes: Buffer.byteLength(text),
      }));
    },
  });
}

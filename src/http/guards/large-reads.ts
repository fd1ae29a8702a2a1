import type { FastifyReply, FastifyRequest } from "fastify";

import { LARGE_READS, LARGE_SESSION_BYTES } from "../../core/limits.ts";
import type { EXPORT_FORMATS } from "../../core/sessions.ts";
import { sessionBytes } from "../../store/records/messages/session-bytes.ts";
import type { Store } from "../../store/store.ts";
import { createBudget } from "../unsent/budget.ts";
import type { UnsentAnswers } from "../unsent/unsent-answers.ts";
import { whoSends } from "../unsent/fair-line.ts";

/** Runs before the handler of a call that reads a whole session. */
export type LargeReads = (
  request: FastifyRequest<{
    Params: { readonly id: string };
    Querystring: { readonly format?: (typeof EXPORT_FORMATS)[number]; readonly redact?: boolean };
  }>,
  reply: FastifyReply,
) => Promise<void>;

/** Bytes of a session that an export for people has in memory: a page of messages with their calls and diffs. */
const PAGED_BYTES = 4 * 1024 * 1024;

/** A session is in memory as rows and as the text that is made of them. */
const COPIES = 2;

/**
 * Lets at most `LARGE_READS` of these calls run at once, until each is answered or its client is gone, and one alone of
 * a large session, unless it is read in pages; the next ones wait for their turn, and for a part of the budget of unsent answers.
 */
export function createLargeReads(store: Store, unsent: Pick<UnsentAnswers, "reserve">): LargeReads {
  const budget = createBudget(LARGE_READS);
  return async (request, reply) => {
    const whole = await store.read(sessionBytes, { reference: request.params.id });
    const isPaged = (request.query.format ?? "json") !== "json";
    const bytes = isPaged ? Math.min(whole, PAGED_BYTES) : whole;
    const amount = bytes > LARGE_SESSION_BYTES ? LARGE_READS : 1;
    await new Promise<void>((begin) => {
      budget.enter({ response: reply.raw, who: whoSends(request), amount, begin });
    });
    await unsent.reserve({ request, reply }, COPIES * bytes);
  };
}

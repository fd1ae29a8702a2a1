import type { FastifyReply, FastifyRequest } from "fastify";

import { LARGE_READS } from "../../core/limits.ts";
import { createBudget } from "../unsent/budget.ts";
import { whoSends } from "../unsent/fair-line.ts";

/** Runs before the handler of a call that reads a whole session. */
export type LargeReads = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/**
 * Lets at most `LARGE_READS` of these calls run at once, until each is answered or its client is gone;
 * the next ones wait for their turn.
 */
export function createLargeReads(): LargeReads {
  const budget = createBudget(LARGE_READS);
  return (request, reply, done) =>
    budget.enter({ response: reply.raw, who: whoSends(request), amount: 1, begin: done });
}

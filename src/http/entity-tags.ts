import etag from "@fastify/etag";
import type { FastifyInstance } from "fastify";

/**
 * Gives the answers of a scope's routes an `ETag`, so that a client that has one already gets 304.
 * For what changes with the program's version only. Clients may keep these answers, but must ask.
 */
export async function tagAnswers(scope: FastifyInstance): Promise<void> {
  await scope.register(etag, { weak: true });
  scope.addHook("onSend", async (request, reply, payload) => {
    if (["GET", "HEAD"].includes(request.method) && reply.statusCode < 400) {
      reply.header("cache-control", "no-cache");
    }
    return payload;
  });
}

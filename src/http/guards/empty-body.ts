import type { FastifyRequest } from "fastify";

/** Where every field is optional, no body at all says the same as an empty object. */
export async function emptyBodyAsObject(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) {
    request.body = {};
  }
}

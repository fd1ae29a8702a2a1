import type { ServerResponse } from "node:http";

import type { FastifyInstance } from "fastify";

import { MAX_BODIES_BYTES, MAX_SMALL_BODY_BYTES } from "../../core/limits.ts";

/**
 * Bounds the memory of request bodies that are read at the same time: a large one waits for its
 * part before its first byte is read. Small ones never wait. Must be called after every hook that may
 * refuse a request without reading it.
 */
export function limitBodyMemory(app: FastifyInstance): void {
  const enter = createBudget(MAX_BODIES_BYTES);
  app.addHook("preParsing", (request, reply, payload, done) => {
    const declared = request.raw.headers["content-length"];
    const limit = request.routeOptions.bodyLimit ?? MAX_SMALL_BODY_BYTES;
    const bytes = declared === undefined ? limit : Math.min(Number(declared), limit);
    if (request.raw.headers["content-type"] === undefined || bytes <= MAX_SMALL_BODY_BYTES) {
      done(null, payload);
    } else {
      enter(reply.raw, bytes, () => done(null, payload));
    }
  });
}

interface WaitingRequest {
  readonly response: ServerResponse;
  readonly amount: number;
  readonly begin: () => void;
}

/** What requests take until they are answered or gone, in the order in which they came. */
export function createBudget(max: number) {
  let taken = 0;
  const waiting: WaitingRequest[] = [];
  const admit = (): void => {
    let next = waiting[0];
    while (next !== undefined && (taken === 0 || taken + next.amount <= max)) {
      waiting.shift();
      take(next);
      next = waiting[0];
    }
  };
  const take = ({ response, amount, begin }: WaitingRequest): void => {
    // one that went away while it waited needs no memory
    if (!response.req.socket.destroyed) {
      taken += amount;
      onceOver(response, () => {
        taken -= amount;
        admit();
      });
      begin();
    }
  };
  return (response: ServerResponse, amount: number, begin: () => void): void => {
    waiting.push({ response, amount, begin });
    admit();
  };
}

/** A response that waits for earlier ones on its connection is never closed if the connection is. */
function onceOver(response: ServerResponse, done: () => void): void {
  const { socket } = response.req;
  const over = (): void => {
    response.off("close", over);
    socket.off("close", over);
    done();
  };
  response.once("close", over);
  socket.once("close", over);
}

import type { Socket } from "node:net";
import type { ServerResponse } from "node:http";

import type { FastifyInstance } from "fastify";

import { MAX_PIPELINED } from "../../core/limits.ts";

/** The requests of one connection that wait for the answers before theirs. */
interface Turns {
  last: ServerResponse;
  waiting: number;
}

/**
 * Begins a request that was pipelined only once the answer before it was taken: else one connection could make the
 * service hold as many answers as it sends requests. One with more waiting requests than any client has is closed.
 * Must be called before every other hook.
 */
export function answerInTurn(app: FastifyInstance): void {
  const connections = new WeakMap<Socket, Turns>();
  app.addHook("onRequest", ({ raw: { socket } }, reply, done) => {
    const { raw: response } = reply;
    const turns = connections.get(socket);
    if (turns === undefined || turns.last.closed) {
      connections.set(socket, { last: response, waiting: 0 });
      done();
      return;
    }
    const { last } = turns;
    turns.last = response;
    turns.waiting += 1;
    if (turns.waiting > MAX_PIPELINED) {
      socket.destroy();
    }
    last.once("close", () => {
      turns.waiting -= 1;
      if (socket.destroyed) {
        // nobody is left to answer
        reply.hijack();
        response.emit("close");
      } else {
        done();
      }
    });
  });
}

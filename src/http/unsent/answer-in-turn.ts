import type { Socket } from "node:net";
import type { ServerResponse } from "node:http";

import type { FastifyInstance } from "fastify";

import { MAX_PIPELINED } from "../../core/limits.ts";
import type { Turns } from "./turns.ts";

/** The requests of one connection that wait for the answers before theirs. */
interface Pipeline {
  last: ServerResponse;
  waiting: number;
}

/**
 * Begins a request that was pipelined only once the answer before it was taken: else one connection could make the
 * service hold as many answers as it sends requests. Of all connections one such request begins at a time, in turn, so
 * that they do not delay others. A connection with more waiting requests than any client has is closed.
 * Must be called before every other hook.
 */
export function answerInTurn(app: FastifyInstance, turns: Pick<Turns, "take">): void {
  const connections = new WeakMap<Socket, Pipeline>();
  app.addHook("onRequest", ({ raw: { socket } }, reply, done) => {
    const { raw: response } = reply;
    const pipeline = connections.get(socket);
    if (pipeline === undefined || pipeline.last.closed) {
      connections.set(socket, { last: response, waiting: 0 });
      done();
      return;
    }
    const { last } = pipeline;
    pipeline.last = response;
    pipeline.waiting += 1;
    if (pipeline.waiting > MAX_PIPELINED) {
      socket.destroy();
    }
    const begin = (): void => {
      pipeline.waiting -= 1;
      if (socket.destroyed) {
        // the client is gone: there is no answer
        reply.hijack();
        response.emit("close");
      } else {
        done();
      }
    };
    last.once("close", () => {
      if (socket.destroyed) {
        begin();
        return;
      }
      void turns.take(`pipelined ${socket.remoteAddress}`).then((end) => {
        begin();
        setImmediate(end);
      });
    });
  });
}

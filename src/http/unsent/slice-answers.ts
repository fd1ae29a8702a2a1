import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";

import type { FastifyInstance, onSendHookHandler } from "fastify";

import { LARGE_ANSWER_BYTES } from "../../core/limits.ts";
import { type HeldBytes, tooBusy } from "./held-bytes.ts";

export interface Slicing {
  readonly held: HeldBytes;
  /** Called once an answer was made. */
  readonly isMade: (response: ServerResponse) => void;
  /** Called when the response takes some of it. */
  readonly progress: (response: ServerResponse, bytes: number) => void;
}

/** Bytes given to the response at once: each slice that it takes is progress. */
const SLICE_BYTES = 64 * 1024;

/** Hands large answers over in slices; texts count until they were taken, and bytes are those of files, in memory anyway. */
export function sliceAnswers(app: FastifyInstance, { held, isMade, progress }: Slicing): void {
  const slice: onSendHookHandler = ({ method }, reply, payload, done) => {
    const { raw: response } = reply;
    isMade(response);
    if (payload instanceof Readable) {
      // its route reports the progress
      done(null, payload);
    } else if (!isText(payload) || payload.length <= LARGE_ANSWER_BYTES || method === "HEAD") {
      held.release(response);
      done(null, payload);
    } else {
      // bytes: for a string, the socket would keep a copy of three times its length
      const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(payload);
      if (bytes !== payload && !holds(held, response, bytes)) {
        done(tooBusy());
        return;
      }
      reply.header("content-length", bytes.length);
      done(null, Readable.from(slicesOf(bytes, response, progress), { highWaterMark: 1 }));
    }
  };
  app.addHook("onRoute", (route) => {
    // before compression, which takes slices too
    route.onSend = [slice, ...[route.onSend ?? []].flat()];
  });
}

function isText(payload: unknown): payload is string | Buffer {
  return typeof payload === "string" || Buffer.isBuffer(payload);
}

/** Returns false if an answer that is larger than its reservation does not fit. */
function holds(held: HeldBytes, response: ServerResponse, bytes: Buffer): boolean {
  const fits = held.ensureFits(response, bytes.length);
  if (fits) {
    held.hold(response, bytes);
  } else {
    held.release(response);
  }
  return fits;
}

function* slicesOf(
  bytes: Buffer,
  response: ServerResponse,
  progress: Slicing["progress"],
): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    progress(response, SLICE_BYTES);
    yield bytes.subarray(at, at + SLICE_BYTES);
  }
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { RepriseError } from "../../core/errors.ts";
import { MAX_BODIES_BYTES, MAX_SMALL_BODY_BYTES } from "../../core/limits.ts";
import { createBudget } from "../unsent/budget.ts";
import { whoSends } from "../unsent/fair-line.ts";

/** A large body that is read. */
interface Arriving {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Bytes that it takes of the budget. */
  readonly amount: number;
  /** Bytes since `since`. */
  bytes: number;
  since: number;
}

/** Bytes that must arrive in this time while others wait. */
const PROGRESS_BYTES = 64 * 1024;
const SLOW_MS = 1000;
/** How often that is checked. */
const CHECK_MS = 200;

/**
 * Bounds the memory of request bodies that are read at the same time: a large one waits for its
 * part before its first byte is read, and one that hardly arrives loses it once others wait. Small ones never wait.
 * Must be called after every hook that may refuse a request without reading it.
 */
export function limitBodyMemory(app: FastifyInstance): void {
  const budget = createBudget(MAX_BODIES_BYTES, { smallFirst: true });
  const arriving = new Set<Arriving>();
  let checks: NodeJS.Timeout | null = null;
  /** Refused requests whose connection is not closed yet. */
  let leaving = 0;
  const refuseSlow = (): void => {
    for (const body of arriving) {
      if (budget.lack > leaving && performance.now() - body.since >= SLOW_MS) {
        arriving.delete(body);
        leaving += body.amount;
        body.reply.raw.once("close", () => {
          leaving -= body.amount;
        });
        refuse(body);
      }
    }
    if (budget.waiting === 0) {
      clearInterval(checks ?? undefined);
      checks = null;
    }
  };
  app.addHook("preParsing", (request, reply, payload, done) => {
    const { headers } = request.raw;
    const declared = headers["content-length"];
    const limit = request.routeOptions.bodyLimit ?? MAX_SMALL_BODY_BYTES;
    const amount = declared === undefined ? limit : Math.min(Number(declared), limit);
    if (headers["content-type"] === undefined || amount <= MAX_SMALL_BODY_BYTES) {
      done(null, payload);
      return;
    }
    const begin = (): void => {
      follow({ request, reply, amount, bytes: 0, since: performance.now() }, arriving);
      done(null, payload);
    };
    budget.enter({ response: reply.raw, who: whoSends(request), amount, begin });
    if (budget.waiting > 0) {
      checks ??= setInterval(refuseSlow, CHECK_MS).unref();
    }
  });
}

function follow(body: Arriving, arriving: Set<Arriving>): void {
  const { raw } = body.request;
  arriving.add(body);
  // else bytes could arrive before their reader listens
  raw.pause();
  raw.on("data", (chunk: Buffer) => {
    body.bytes += chunk.length;
    if (body.bytes >= PROGRESS_BYTES) {
      body.bytes = 0;
      body.since = performance.now();
    }
  });
  for (const event of ["end", "close"]) {
    raw.once(event, () => arriving.delete(body));
  }
}

/** Answers before the rest has arrived, and closes the connection. */
function refuse({ reply }: Arriving): void {
  reply
    .header("connection", "close")
    .send(
      new RepriseError(
        "request_timeout",
        "The request took too long to arrive while others waited; send it again, faster or in smaller parts.",
      ),
    );
}

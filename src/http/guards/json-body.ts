import type { FastifyInstance, FastifyRequest } from "fastify";
import { RepriseError } from "../../core/errors.ts";
import { MAX_BODY_VALUES } from "../../core/limits.ts";
import { invalidRequest } from "../../core/invalid-request.ts";

/**
 * Takes JSON in UTF-8 and nothing else. No body at all, whatever its Content-Type, is `undefined`.
 * Names such as `__proto__` are ordinary names to JSON.parse, and the closed schemas refuse them.
 */
export function acceptOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  app.addHook("onRequest", ({ raw: { headers } }, _reply, done) => {
    if (headers["content-length"] === "0") {
      // curl and others name a type even if nothing follows
      delete headers["content-type"];
    }
    done();
  });
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    // a promise and no callback: what it throws reaches the error handler
    async ({ headers }: Pick<FastifyRequest, "headers">, body: Buffer) => {
      refuseOtherCharset(headers["content-type"]);
      refuseEncoded(headers["content-encoding"], headers["transfer-encoding"]);
      return body.length === 0 ? undefined : parseJson(body, decoder);
    },
  );
}

/**
 * Bodies are not decompressed: read as JSON, a compressed one would be another text than was meant.
 */
function refuseEncoded(content = "identity", transfer = "chunked"): void {
  if (!/^identity$/i.test(content) || !/^chunked$/i.test(transfer)) {
    throw new RepriseError(
      "unsupported_media_type",
      "The request body is compressed, which this service does not support. Send it uncompressed.",
    );
  }
}

function refuseOtherCharset(contentType: unknown): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(String(contentType))?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new RepriseError(
      "unsupported_media_type",
      "The request body must be JSON in UTF-8; leave the charset out or name utf-8.",
    );
  }
}

function parseJson(body: Buffer, decoder: InstanceType<typeof TextDecoder>): unknown {
  refuseManyValues(body);
  try {
    return JSON.parse(decoder.decode(body));
  } catch {
    throw new RepriseError(
      "malformed_json",
      "The request body is not JSON in UTF-8; check how it is written and encoded.",
    );
  }
}

/**
 * No request has more than a few fields. Parsing and checking millions of values would block all
 * other requests; counting them takes some milliseconds.
 */
function refuseManyValues(body: Buffer): void {
  let values = 0;
  let inString = false;
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index];
    if (byte === QUOTE) {
      inString = !inString;
    } else if (byte === BACKSLASH) {
      index += inString ? 1 : 0;
    } else if (!inString && (byte === COMMA || byte === BRACKET || byte === BRACE)) {
      values += 1;
    }
  }
  if (values > MAX_BODY_VALUES) {
    throw invalidRequest([
      { pointer: "", message: "Holds more values than any request of this service has." },
    ]);
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;

/** If every field is optional, no body means an empty object. */
export async function emptyBodyAsObject(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) {
    request.body = {};
  }
}

/** Refuses the body of a call that takes none: what is sent in vain was meant for another call. */
export async function refuseBody({ body }: FastifyRequest): Promise<void> {
  const isEmpty = typeof body === "object" && body !== null && Object.keys(body).length === 0;
  if (body !== undefined && (Array.isArray(body) || !isEmpty)) {
    throw invalidRequest([{ pointer: "", message: "Must be empty: this call takes no body." }]);
  }
}

import type { FastifyInstance } from "fastify";

import { RepriseError } from "../core/errors.ts";

/**
 * Takes JSON in UTF-8 and nothing else. No body at all, whatever its Content-Type, is `undefined`.
 * Names such as `__proto__` are ordinary names to JSON.parse, and the closed schemas refuse them.
 */
export function acceptOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    // a promise and no callback: what it throws reaches the error handler
    async (request: { headers: Readonly<Record<string, unknown>> }, body: Buffer) => {
      refuseOtherCharset(request.headers["content-type"]);
      return body.length === 0 ? undefined : parseJson(body);
    },
  );
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

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new RepriseError(
      "malformed_json",
      "The request body is not JSON in UTF-8; check how it is written and encoded.",
    );
  }
}

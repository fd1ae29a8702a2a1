import etag from "@fastify/etag";
import type { FastifyInstance, FastifyReply } from "fastify";

/**
 * Gives the answers of a scope's routes an `ETag`, so that a client that has one already gets 304.
 * For what changes with the program's version only. Clients may keep these answers, but must ask.
 */
export async function tagAnswers(scope: FastifyInstance): Promise<void> {
  // the plugin compares with one tag only, where HTTP allows a list
  await scope.register(etag, { weak: true, replyWith304: false });
  scope.addHook("onSend", async (request, reply, payload) => {
    if (!["GET", "HEAD"].includes(request.method) || reply.statusCode >= 400) {
      return payload;
    }
    reply.header("cache-control", "no-cache");
    varyByEncoding(reply);
    if (!isKnown(request.headers["if-none-match"], String(reply.getHeader("etag")))) {
      return payload;
    }
    reply.code(304).removeHeader("content-type");
    return null;
  });
}

/** The answer has other bytes for a client that takes compressed ones: caches keep both. */
function varyByEncoding(reply: FastifyReply): void {
  const earlier = [reply.getHeader("vary") ?? []].flat();
  reply.header("vary", [...earlier, "accept-encoding"].join(", "));
}

/** RFC 9110, 13.1.2: a list of tags or `*`, compared without regard to `W/`. */
function isKnown(condition: string | undefined, tag: string): boolean {
  const known = (condition ?? "").split(",").map((each) => each.trim().replace(/^W\//, ""));
  return known.includes("*") || known.includes(tag.replace(/^W\//, ""));
}

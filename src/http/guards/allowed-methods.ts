import type { FastifyInstance } from "fastify";

import { RepriseError } from "../../core/errors.ts";
import { parseRequestTarget } from "./request-target.ts";

/**
 * Answers what no route answers: 405 with the methods that the path does take, or 404. Must be
 * called before the routes are added. Runs before a body is read, so that the error for a wrong
 * path is not about its body.
 */
export function refuseUnknownRoutes(app: FastifyInstance): void {
  const methods = new Map<string, readonly string[]>();
  app.addHook("onRoute", ({ url, method }) => {
    methods.set(url, [...(methods.get(url) ?? []), ...[method].flat()]);
  });
  app.addHook("onRequest", (request, _reply, done) => {
    done(request.is404 ? refusal(methods, request.url) : undefined);
  });
  // with allowed origins, an OPTIONS request other than a preflight has a route that ends here
  app.setNotFoundHandler(({ url }) => {
    throw refusal(methods, url);
  });
}

function refusal(methods: ReadonlyMap<string, readonly string[]>, url: string): RepriseError {
  const { path } = parseRequestTarget(url);
  for (const [pattern, known] of methods) {
    if (matches(pattern, path)) {
      return new RepriseError(
        "method_not_allowed",
        "This path does not support this method. The Allow header lists the supported ones.",
        { allow: known.toSorted() },
      );
    }
  }
  return notFound();
}

function matches(pattern: string, path: string): boolean {
  const parts = path.split("/");
  const wanted = pattern.split("/");
  return (
    parts.length === wanted.length &&
    wanted.every(
      (part, index) => part === parts[index] || (part.startsWith(":") && parts[index] !== ""),
    )
  );
}

function notFound(): RepriseError {
  return new RepriseError(
    "route_not_found",
    "The service has no such path; see /openapi.json for those it has.",
  );
}

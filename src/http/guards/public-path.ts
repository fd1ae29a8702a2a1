import type { FastifyRequest } from "fastify";

import { RepriseError } from "../../core/errors.ts";

/** The paths of the service as clients see them. */
export interface PublicPathOptions {
  /** Prefix that a proxy removes from each path, such as `/reprise`; empty by default. */
  readonly publicPath?: string | undefined;
  /** True if only a proxy can reach the service: its `X-Forwarded-Prefix` is believed. */
  readonly trustProxy?: boolean | undefined;
}

/** The path under which the client of a request reaches a path of the service. */
export type PublicPath = (request: FastifyRequest, path: string) => string;

const PREFIX = /^(?:\/[A-Za-z0-9._~-]+){1,16}$/;
const MAX_PREFIX_LENGTH = 255;

/**
 * Makes what `Location` and `Link` are built with. A header that is not a plain path is ignored.
 *
 * Error codes: `config_invalid` for a `publicPath` that is not a plain path.
 */
export function createPublicPath(options: PublicPathOptions): PublicPath {
  const configured = options.publicPath ?? "";
  if (configured !== "" && !isPrefix(configured)) {
    throw new RepriseError(
      "config_invalid",
      "The public path is not a plain path; begin it with a slash and end it without one, such as /reprise.",
    );
  }
  return (request, path) => {
    const forwarded = request.raw.headers["x-forwarded-prefix"];
    const isUsable = options.trustProxy === true && isPrefix(forwarded);
    return `${isUsable ? forwarded : configured}${path}`;
  };
}

function isPrefix(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= MAX_PREFIX_LENGTH &&
    PREFIX.test(value) &&
    !/\/\.{1,2}(\/|$)/.test(value)
  );
}

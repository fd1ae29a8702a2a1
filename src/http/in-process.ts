import { randomBytes } from "node:crypto";

import type { AccessRole } from "../core/principal.ts";
import { createApp } from "./app.ts";
import type { AppOptions } from "./app-options.ts";
import type { Observe } from "./observation.ts";

/** Options of the service but for who gets in: callers in the process say who they act for. */
export type InProcessOptions = Omit<
  AppOptions & { readonly observe: Observe },
  "hosts" | "allowOrigins" | "token" | "madeToken" | "readToken" | "metricsToken" | "page" | "mcp"
>;

/** The service without a socket, for callers of this process. */
export interface InProcess {
  /** A `fetch` that reaches the routes as somebody with this role, which was proved elsewhere. */
  fetchAs(role: AccessRole): typeof fetch;
  close(): Promise<void>;
}

/** The only name under which the routes answer. */
const HOST = "reprise.invalid";

/**
 * Opens the routes of the service for callers of this process. A call meets the same checks as one over a socket, in the
 * same order, but for those of its connection.
 */
export async function openInProcess(options: InProcessOptions): Promise<InProcess> {
  const [madeToken, readToken] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
  const hosts = { bound: HOST, extra: [HOST] };
  const { fastify } = await createApp({ ...options, hosts, madeToken, readToken });
  const tokens: Readonly<Record<AccessRole, string | null>> = {
    owner: madeToken,
    reader: readToken,
    guest: null,
    // a link shows one session: nothing else may be asked for it
    visitor: "",
  };
  return {
    fetchAs: (role) => async (input, init) => {
      const token = tokens[role];
      const { method = "GET", headers, body } = init ?? {};
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      const answer = await fastify.inject({
        method: method as "GET",
        url: `${pathname}${search}`,
        headers: {
          ...Object.fromEntries(new Headers(headers)),
          host: HOST,
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(typeof body === "string" ? { payload: body } : {}),
      });
      const given = Object.entries(answer.headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)] as [string, string]],
      );
      return new Response(answer.payload === "" ? null : answer.payload, {
        status: answer.statusCode,
        headers: given,
      });
    },
    close: () => fastify.close(),
  };
}

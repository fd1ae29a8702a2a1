import type { FastifyInstance, FastifyRequest } from "fastify";

import { RepriseError } from "../../core/errors.ts";
import { tagAnswers } from "../encoding.ts";
import type { PublicPath } from "../guards/public-path.ts";
import type { Page } from "./read-page.ts";

export interface PageOptions {
  /** Where the page was built: with `index.html`, `session.html` and `assets/`. */
  readonly folder: string;
  readonly publicPath: PublicPath;
}

const SESSION = "/sessions/:id";

/** The addresses of the page; its script chooses what each shows. */
const DOCUMENTS = ["/", SESSION, "/plans", "/service", "/costs", "/login", "/shared/:id"];

/** Nothing but the service's own files; no text becomes a script, a style or, but sanitised, an element. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types dompurify",
].join("; ");

const DOCUMENT_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy":
    "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
  // with plain HTTP off loopback only this header says that the page itself reads
  "referrer-policy": "same-origin",
  "x-frame-options": "DENY",
};

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

/** How compressed files end, in the order in which they are preferred. */
const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

const notBuilt = (): RepriseError =>
  new RepriseError(
    "route_not_found",
    "The web page is not built. In a checkout, start the service with `npm start`, or run `npm run build:page` once.",
  );

/**
 * The web page: a document at each of its addresses, and its assets. They hold no data and need no token.
 * Nothing is read before the first request; then all of it is kept in memory.
 *
 * Error codes: `route_not_found` while the page is not built, and for an asset that it does not have.
 */
export async function pageRoutes(
  app: FastifyInstance,
  { folder, publicPath }: PageOptions,
): Promise<void> {
  let kept: Promise<Page | null> | null = null;
  const page = async (): Promise<Page | null> => {
    kept ??= import("./read-page.ts").then(({ readPage }) => readPage(folder));
    try {
      const found = await kept;
      // a page that is not built may be built before the next request
      kept = found === null ? null : kept;
      return found;
    } catch (error) {
      kept = null;
      throw error;
    }
  };
  await app.register(async (scope) => {
    await tagAnswers(scope);
    for (const url of DOCUMENTS) {
      scope.route({
        method: "GET",
        url,
        config: { needs: "nothing", document: true },
        schema: { hide: true },
        handler: async (request, reply) => {
          const found = await page();
          if (found === null) {
            throw notBuilt();
          }
          const html = url === SESSION ? found.sessionHtml : found.html;
          return reply
            .headers(DOCUMENT_HEADERS)
            .type("text/html; charset=utf-8")
            .send(html.replaceAll("{base}", publicPath(request, "/")));
        },
      });
    }
  });
  app.route<{ Params: { name: string } }>({
    method: "GET",
    url: "/assets/:name",
    config: { needs: "nothing" },
    schema: { hide: true },
    handler: async (request, reply) => {
      const { name } = request.params;
      const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
      const assets = (await page())?.assets;
      const plain = assets?.get(name);
      if (assets === undefined || plain === undefined || type === undefined) {
        throw new RepriseError(
          "route_not_found",
          "The page has no such file: another version of it runs. Reload the page.",
        );
      }
      const [encoding, ending] = ENCODINGS.find(([encoding]) => accepts(request, encoding)) ?? [];
      const encoded = ending === undefined ? undefined : assets.get(`${name}${ending}`);
      reply.headers({
        "cache-control": "public, max-age=31536000, immutable",
        vary: "accept-encoding",
      });
      if (encoded !== undefined) {
        reply.header("content-encoding", encoding);
      }
      return reply.type(type).send(encoded ?? plain);
    },
  });
}

function accepts({ headers }: FastifyRequest, encoding: string): boolean {
  const accepted = (headers["accept-encoding"]?.toString() ?? "").split(",");
  return accepted.some((each) => {
    const [name = "", quality = ""] = each.trim().split(/\s*;\s*/);
    return name.toLowerCase() === encoding && !/^q=0(\.0*)?$/i.test(quality);
  });
}

import type { Whoami } from "../../src/core/schemas/access-schemas.ts";
import { type Answer, request, type TestServer } from "./server.ts";

/** What the page of a service sends with each request. */
export const PAGE_HEADERS = { "x-reprise-page": "1", "sec-fetch-site": "same-origin" } as const;

type Headers = Readonly<Record<string, string>>;

/** A browser with the page of a service open: it keeps the cookies that it gets. */
export interface PageClient {
  /** By their names, as `Set-Cookie` had them. */
  readonly cookies: Map<string, string>;
  /** As the page sends it; `headers` replace those of a page, and an empty one is left out. */
  call<T = { code?: string }>(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Headers },
  ): Promise<Answer<T>>;
  login(body: unknown, headers?: Headers): Promise<Answer<Whoami & { code?: string }>>;
  me(headers?: Headers): Promise<Whoami>;
}

/** `from`: another browser, whose cookies this one begins with. */
export function openPage({ url }: Pick<TestServer, "url">, from?: PageClient): PageClient {
  const cookies = new Map(from?.cookies);
  const call: PageClient["call"] = async (method, path, { body, headers = {} } = {}) => {
    const cookie = [...cookies].map(([name, set]) => `${name}=${valueOf(set)}`).join("; ");
    const text = body === undefined ? undefined : JSON.stringify(body);
    const all = {
      ...PAGE_HEADERS,
      ...(cookie === "" ? {} : { cookie }),
      ...(text === undefined
        ? {}
        : {
            "content-type": "application/json",
            "content-length": String(Buffer.byteLength(text)),
          }),
      ...headers,
    };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
    const answer = await request(url, {
      method,
      path,
      headers: sent,
      ...(text === undefined ? {} : { body: text }),
    });
    const set = answer.headers.get("set-cookie");
    if (set !== null) {
      const name = set.slice(0, set.indexOf("="));
      cookies.set(name, set);
      if (/; Max-Age=0;/.test(set)) {
        cookies.delete(name);
      }
    }
    return answer as Answer<never>;
  };
  return {
    cookies,
    call,
    login: (body, headers) =>
      call("POST", "/page/login", { body, ...(headers === undefined ? {} : { headers }) }),
    me: async (headers = {}) => (await call<Whoami>("GET", "/page/me", { headers })).json,
  };
}

function valueOf(set: string): string {
  return set.slice(set.indexOf("=") + 1, set.indexOf(";"));
}

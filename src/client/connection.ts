import { badAnswer, ClientError, errorOf } from "./client-error.ts";

export interface ClientOptions {
  /** Where the service listens, such as `http://127.0.0.1:8787`. */
  readonly baseUrl: string;
  readonly token?: string | undefined;
  /** Default: the platform's own `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  /** Values are text, numbers, booleans, or undefined for what is left out. */
  readonly query?: object;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export type Connection = ReturnType<typeof createConnection>;

type Method = "GET" | "POST" | "PATCH" | "DELETE";

interface Called<T> {
  readonly body: T;
  readonly headers: Headers;
}

export function createConnection(options: ClientOptions) {
  const base = options.baseUrl.replace(/\/+$/, "");
  const send = options.fetch ?? fetch;

  /** The answer whatever its status. Error codes: `unreachable`; an abort is thrown unchanged. */
  const open = async (method: Method, path: string, call: CallOptions = {}): Promise<Response> => {
    try {
      return await send(`${base}${path}${queryOf(call.query ?? {})}`, {
        method,
        headers: headersOf(call, options.token),
        body: JSON.stringify(call.body),
        signal: call.signal ?? null,
      });
    } catch (cause) {
      call.signal?.throwIfAborted();
      throw new ClientError(
        "unreachable",
        "The service did not answer; check that it runs and that the address is right.",
        { status: 0, cause },
      );
    }
  };

  /** The answer's JSON and headers. Error codes: the service's, `unreachable`, `bad_answer`. */
  const call = async <T>(
    method: Method,
    path: string,
    options: CallOptions = {},
  ): Promise<Called<T>> => {
    const answer = await open(method, path, options);
    if (!answer.ok) {
      throw await errorOf(answer);
    }
    try {
      return { body: (await answer.json()) as T, headers: answer.headers };
    } catch (cause) {
      options.signal?.throwIfAborted();
      throw badAnswer(answer.status, cause);
    }
  };

  /** The answer's JSON alone. */
  const json = async <T>(method: Method, path: string, options?: CallOptions): Promise<T> =>
    (await call<T>(method, path, options)).body;

  /** The answer's text. Error codes: as `call`. */
  const text = async (path: string, options?: CallOptions): Promise<string> => {
    const answer = await open("GET", path, options);
    if (!answer.ok) {
      throw await errorOf(answer);
    }
    try {
      return await answer.text();
    } catch (cause) {
      throw badAnswer(answer.status, cause);
    }
  };

  /** Nothing but that it was done. Error codes: the service's, `unreachable`. */
  const empty = async (method: Method, path: string): Promise<void> => {
    const answer = await open(method, path);
    if (!answer.ok) {
      throw await errorOf(answer);
    }
    await answer.body?.cancel();
  };

  return { open, call, json, text, empty };
}

function queryOf(query: object): string {
  const parameters = new URLSearchParams(withValues(query)).toString();
  return parameters === "" ? "" : `?${parameters}`;
}

function headersOf(call: CallOptions, token: string | undefined): Record<string, string> {
  return withValues({
    "content-type": call.body === undefined ? undefined : "application/json",
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    ...call.headers,
  });
}

/** Without the names whose value is undefined. */
function withValues(values: object): Record<string, string> {
  const given = Object.entries<unknown>({ ...values }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** Returns a parameter of the link to the next page; null on the last one. */
export function nextOf(headers: Headers, parameter: string): string | null {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(headers.get("link") ?? "")?.[1];
  return target === undefined
    ? null
    : new URL(target, "http://reprise.invalid").searchParams.get(parameter);
}

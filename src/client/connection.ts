import { badAnswer, ClientError, errorOf } from "./client-error.ts";

export interface ClientOptions {
  /** Where the service listens, such as `http://127.0.0.1:8787`. */
  readonly baseUrl: string;
  readonly token?: string | undefined;
  /** Default: the platform's own `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface Connection {
  /** The answer whatever its status. Error codes: `unreachable`; an abort is thrown as it is. */
  open(method: "GET" | "POST", path: string, options?: CallOptions): Promise<Response>;
  /** The answer's JSON and headers. Error codes: the service's, `unreachable`, `bad_answer`. */
  call<T>(method: "GET" | "POST", path: string, options?: CallOptions): Promise<Called<T>>;
}

export interface Called<T> {
  readonly body: T;
  readonly headers: Headers;
}

export function createConnection(options: ClientOptions): Connection {
  const base = options.baseUrl.replace(/\/+$/, "");
  const send = options.fetch ?? fetch;

  const open: Connection["open"] = async (method, path, call = {}) => {
    try {
      return await send(`${base}${path}${queryOf(call.query ?? {})}`, {
        method,
        headers: headersOf(call, options.token),
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        ...(call.signal === undefined ? {} : { signal: call.signal }),
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

  return {
    open,
    call: async <T>(
      method: "GET" | "POST",
      path: string,
      call?: CallOptions,
    ): Promise<Called<T>> => {
      const answer = await open(method, path, call);
      if (!answer.ok) {
        throw await errorOf(answer);
      }
      try {
        return { body: (await answer.json()) as T, headers: answer.headers };
      } catch (cause) {
        call?.signal?.throwIfAborted();
        throw badAnswer(answer.status, cause);
      }
    },
  };
}

function queryOf(query: NonNullable<CallOptions["query"]>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      parameters.set(name, String(value));
    }
  }
  return parameters.size === 0 ? "" : `?${parameters.toString()}`;
}

function headersOf(call: CallOptions, token: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (call.body !== undefined) {
    headers["content-type"] = "application/json";
  }
  if (token !== undefined) {
    headers["authorization"] = `Bearer ${token}`;
  }
  for (const [name, value] of Object.entries(call.headers ?? {})) {
    if (value !== undefined) {
      headers[name] = value;
    }
  }
  return headers;
}

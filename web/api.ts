import { computed, signal } from "@preact/signals";

import { ClientError, createClient } from "../src/entries/client.ts";
import { base } from "./route.ts";
import { answerInTime } from "./answer-in-time.ts";

/** Who the service takes this page for; see `GET /page/me`. */
export interface Whoami {
  /**
   * `owner` has the token, `reader` the token for reading, `visitor` a link to one session. A `guest` is not logged in.
   */
  readonly role: "owner" | "reader" | "visitor" | "guest";
  /** The only session that a visitor sees; else null. */
  readonly session: string | null;
  /** When the login ends at the latest; null for guests. */
  readonly expires_at: string | null;
  /** True if other machines can read what is sent, the token included. */
  readonly plain_http: boolean;
  readonly version: string;
}

export type Login =
  | { readonly code: string }
  | { readonly token: string }
  | { readonly share: string };

/** Null until the service has answered. */
export const whoami = signal<Whoami | null>(null);

/** True if the service refuses even to read without a login. */
export const needsLogin = signal(false);

/** Why the last login failed; null if none did. */
export const loginProblem = signal<string | null>(null);

/** True for who may do everything. */
export const isOwner = computed(() => whoami.value?.role === "owner");

/** The service, with this page's login. */
export const client = createClient({ baseUrl: `${location.origin}${base}`, fetch: fetchAsPage });

/** Milliseconds. Nothing that is sent so does more than store something. */
const STORED_MS = 20_000;

/** As `client`, for what can be sent again: a connection that was dropped without a word is given up in time. */
export const sending = createClient({
  baseUrl: `${location.origin}${base}`,
  fetch: answerInTime(fetchAsPage, STORED_MS),
});

/** Counts what may change who this page is: an answer from before says nothing any more. */
let changes = 0;

/** Reads `GET /page/me` into `whoami`. Does not throw: without an answer, `whoami` is not changed. */
export async function readWhoami(): Promise<void> {
  const asked = ++changes;
  try {
    const answer = await fetchAsPage(`${base}page/me`);
    if (answer.ok) {
      const who: Whoami = await answer.json();
      if (asked !== changes) {
        return;
      }
      whoami.value = who;
      // another tab may have logged in
      needsLogin.value &&= who.role === "guest";
    }
  } catch {
    // the notice of the connection says it
  }
}

/**
 * Logs in. Codes of the ClientError: `login_refused`, `unreachable` and the service's others.
 */
export async function logIn(login: Login): Promise<Whoami> {
  if (!navigator.cookieEnabled) {
    // before the request: a code can be used once
    const sentence =
      "This browser keeps no cookies, so it cannot log in. Allow them for this address.";
    throw new ClientError("login_refused", sentence, { status: 0 });
  }
  const answer = await post("page/login", login);
  const who: Whoami = await answer.json();
  changes += 1;
  needsLogin.value = false;
  whoami.value = who;
  return who;
}

/** Ends the login of this browser. Codes as of `logIn`. */
export async function logOut(): Promise<void> {
  await post("page/logout");
  await readWhoami();
}

async function post(path: string, body?: unknown): Promise<Response> {
  const content =
    body === undefined
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetchAsPage(`${base}${path}`, { method: "POST", ...content }).catch(
    (cause: unknown) => {
      throw new ClientError("unreachable", "The service does not answer. Try again.", {
        status: 0,
        cause,
      });
    },
  );
  if (!answer.ok) {
    throw await refusalOf(answer);
  }
  return answer;
}

async function refusalOf(answer: Response): Promise<ClientError> {
  const problem: { code?: ClientError["code"]; detail?: string } = await answer
    .json()
    .catch(() => ({}));
  const sentence = problem.detail ?? `The service answered with status ${answer.status}.`;
  return new ClientError(problem.code ?? "bad_answer", sentence, { status: answer.status });
}

/** As `fetch`, with this page's login: a cookie counts only with this header, which no other page can send. */
export async function fetchAsPage(
  input: RequestInfo | URL,
  init: RequestInit = {},
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("x-reprise-page", "1");
  const answer = await fetch(input, { ...init, headers, credentials: "same-origin" });
  if (answer.status === 401 && new URL(answer.url).pathname.startsWith(`${base}api/`)) {
    // a login that has ended, too
    const isNew = !needsLogin.value;
    needsLogin.value = true;
    if (isNew) {
      void readWhoami();
    }
  }
  return answer;
}

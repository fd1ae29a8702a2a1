import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { logIn, loginProblem, logOut, whoami, type Whoami } from "../api.ts";
import { usePageTitle } from "../parts/attention.ts";
import { Button } from "../parts/Button.tsx";
import { Notice } from "../parts/Notice.tsx";
import { sentenceOf } from "../parts/sentence-of.ts";
import { Time } from "../parts/Time.tsx";
import { go, route } from "../route.ts";

/** Logs in with the token, and says who is logged in. */
export function LoginPage(): JSX.Element {
  const who = whoami.value;
  usePageTitle("Log in");
  return (
    <div class="login">
      <h1>Log in</h1>
      {who?.plain_http === true ? (
        <Notice kind="warning">
          This connection is not encrypted: the token and everything else can be read on its way.
          Use it only in a network that you trust.
        </Notice>
      ) : null}
      {who === null || who.role === "guest" ? <TokenForm /> : <LoggedIn who={who} />}
    </div>
  );
}

function TokenForm(): JSX.Element {
  const token = useSignal("");
  const isBusy = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const enter = async (): Promise<void> => {
    isBusy.value = true;
    try {
      await logIn({ token: token.value.trim() });
      loginProblem.value = null;
      if (route.value.page === "login") {
        go("/", { replace: true });
      }
    } catch (error) {
      loginProblem.value = sentenceOf(error);
      input.current?.select();
    }
    isBusy.value = false;
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy.value && token.value.trim() !== "") {
          void enter();
        }
      }}
    >
      {loginProblem.value === null ? null : <Notice kind="problem">{loginProblem.value}</Notice>}
      <label class="field">
        <span>Token of the service</span>
        <input
          ref={input}
          type="password"
          autocomplete="current-password"
          value={token.value}
          onInput={({ currentTarget: { value } }) => {
            token.value = value;
          }}
        />
      </label>
      <p class="muted">
        <code>reprise serve</code> prints an address that logs in once, and the file that holds the
        token.
      </p>
      <Button kind="primary" type="submit" disabled={isBusy.value}>
        Log in
      </Button>
    </form>
  );
}

const ROLES = {
  owner: "This browser is logged in and may do everything.",
  reader: "This browser is logged in and may read everything.",
  visitor: "This browser has a link to one session, and may read that one.",
  guest: "This browser is not logged in.",
} as const;

function LoggedIn({ who }: { readonly who: Whoami }): JSX.Element {
  const problem = useSignal<string | null>(null);
  return (
    <>
      {problem.value === null ? null : <Notice kind="problem">{problem.value}</Notice>}
      <p>
        {ROLES[who.role]}
        {who.expires_at === null ? null : (
          <>
            {" "}
            The login ends <Time at={who.expires_at} /> at the latest.
          </>
        )}
      </p>
      <Button
        onClick={() => {
          logOut().catch((error: unknown) => {
            problem.value = sentenceOf(error);
          });
        }}
      >
        Log out
      </Button>
    </>
  );
}

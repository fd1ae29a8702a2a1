import type { JSX } from "preact";

/** Logs in with the code of the address, or with the token. */
export function LoginPage(): JSX.Element {
  return <h1>Log in</h1>;
}

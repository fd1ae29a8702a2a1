import type { JSX } from "preact";

import { whoami } from "../../api.ts";
import { Link } from "../../parts/Link.tsx";

/** Why this login cannot do something, and the way to one that can. */
export function MayNot({ what }: { readonly what: string }): JSX.Element {
  return (
    <p class="muted">
      {whoami.value?.role === "reader"
        ? `This login only reads. Log in with the token of the service to ${what}.`
        : `Log in to ${what}.`}{" "}
      <Link to="/login">Log in</Link>
    </p>
  );
}

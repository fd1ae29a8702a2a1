import type { JSX } from "preact";

/** One session, for visitors of a link to it. */
export function Shared({ id }: { readonly id: string }): JSX.Element {
  return (
    <h1>
      Session <bdi>{id}</bdi>
    </h1>
  );
}

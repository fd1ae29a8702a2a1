import type { JSX } from "preact";

/** One session: its conversation and what happens in it. */
export function Session({ id }: { readonly id: string }): JSX.Element {
  return (
    <h1>
      Session <bdi>{id}</bdi>
    </h1>
  );
}

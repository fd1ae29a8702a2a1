import type { JSX } from "preact";

import { localTime } from "./local-time.ts";

/** A time of the service in the reader's own time zone; UTC as a hint. */
export function Time({ at }: { readonly at: string }): JSX.Element {
  return (
    <time dateTime={at} title={`${at.replace("T", " ").replace(/(?:\.\d+)?Z$/, "")} UTC`}>
      {localTime(at, new Date())}
    </time>
  );
}

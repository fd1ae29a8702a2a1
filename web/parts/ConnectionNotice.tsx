import { signal, useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { connection } from "../streams/streams.ts";
import { type ConnectionSentence, connectionSentence, nextAttempt } from "./connection-sentence.ts";
import { localTime } from "./local-time.ts";

/** A sentence about the connection to the service; null if all is well. */
export const connectionProblem = signal<string | null>(null);

/** What is wrong with the connection, below the head of every page. Screen readers get each sentence once. */
export function ConnectionNotice(): JSX.Element {
  const status = connection.value;
  const sentence = status === null ? null : connectionSentence(status, timeOf);
  const { kind, text } = sentence ?? { kind: "warning", text: connectionProblem.value };
  useSignalEffect(() => {
    if (connection.value?.kind === "live") {
      connectionProblem.value = null;
    }
  });
  return (
    <div class={text === null ? "" : `notice connection ${kind}`}>
      <span aria-live="polite">{text}</span>
      <NextAttempt nextAt={sentence?.nextAt ?? null} />
    </div>
  );
}

/** Counts down. Not for screen readers, which would read each second. */
function NextAttempt({ nextAt }: Pick<ConnectionSentence, "nextAt">): JSX.Element | null {
  const now = useSignal(Date.now());
  useEffect(() => {
    if (nextAt === null) {
      return undefined;
    }
    now.value = Date.now();
    const timer = setInterval(() => {
      now.value = Date.now();
    }, 500);
    return () => clearInterval(timer);
  }, [nextAt]);
  return nextAt === null ? null : <span aria-hidden="true">{nextAttempt(nextAt, now.value)}</span>;
}

function timeOf(ms: number): string {
  return localTime(new Date(ms).toISOString(), new Date());
}

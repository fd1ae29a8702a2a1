import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import { Notice } from "./Notice.tsx";
import { sentenceOf } from "./sentence-of.ts";

export interface Calling {
  /** Why the last call failed; null if it did not. */
  readonly problem: JSX.Element | null;
  readonly isBusy: boolean;
  /** Makes one call at a time: one that is asked for meanwhile is left out. */
  run(call: () => Promise<void>): void;
  fail(error: unknown): void;
}

/** Calls of the service that a button makes. `onDone` follows each that succeeds. */
export function useCall(onDone: () => void = () => undefined): Calling {
  const failure = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const fail = (error: unknown): void => {
    failure.value = sentenceOf(error);
  };
  return {
    problem: failure.value === null ? null : <Notice kind="problem">{failure.value}</Notice>,
    isBusy: isBusy.value,
    fail,
    run: (call) => {
      if (isBusy.peek()) {
        return;
      }
      isBusy.value = true;
      failure.value = null;
      call()
        .then(onDone, fail)
        .finally(() => {
          isBusy.value = false;
        });
    },
  };
}

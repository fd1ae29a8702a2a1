import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type Inputs, useEffect, useRef } from "preact/hooks";

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

/**
 * What a call returns, `initial` until it is known. It is read again when `inputs` change and with `again`; the
 * answer to the latest call counts, whichever arrives last.
 */
export function useRead<Value>(
  read: () => Promise<Value>,
  initial: Value,
  inputs: Inputs,
  fail: (error: unknown) => void,
): { readonly value: Value; again(): void } {
  const value = useSignal(initial);
  const asked = useRef(0);
  const again = (): void => {
    asked.current += 1;
    const mine = asked.current;
    read().then(
      (found) => {
        if (mine === asked.current) {
          value.value = found;
        }
      },
      (error: unknown) => {
        if (mine === asked.current) {
          fail(error);
        }
      },
    );
  };
  useEffect(() => {
    again();
    return () => void (asked.current += 1);
  }, inputs);
  return { value: value.value, again };
}

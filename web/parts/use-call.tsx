import { useSignal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { type Inputs, useEffect, useRef } from "preact/hooks";

import { connection } from "../streams/streams.ts";
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

/** Calls of the service that a button makes. `onDone` follows each that succeeds while the button is still there. */
export function useCall(onDone: () => void = () => undefined): Calling {
  const isGone = useRef(false);
  useEffect(() => () => void (isGone.current = true), []);
  const failure = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const fail = (error: unknown): void => {
    failure.value = sentenceOf(error);
  };
  return {
    problem: noticeOf(failure.value),
    isBusy: isBusy.value,
    fail,
    run: (call) => {
      if (isBusy.peek()) {
        return;
      }
      isBusy.value = true;
      failure.value = null;
      call()
        .then(() => isGone.current || onDone(), fail)
        .finally(() => {
          isBusy.value = false;
        });
    },
  };
}

export interface Reading<Value> {
  readonly value: Value;
  /** Why the last read failed; null if it did not. */
  readonly problem: JSX.Element | null;
  again(): void;
}

/**
 * What a call returns, `initial` until it is known. It is read again when `inputs` change, with `again`, and after a
 * failure once the service answers again; the answer to the latest call counts, whichever arrives last.
 */
export function useRead<Value>(
  read: () => Promise<Value>,
  initial: Value,
  inputs: Inputs,
): Reading<Value> {
  const value = useSignal(initial);
  const failure = useSignal<string | null>(null);
  const asked = useRef(0);
  const again = (): void => {
    asked.current += 1;
    const mine = asked.current;
    read().then(
      (found) => {
        if (mine === asked.current) {
          value.value = found;
          failure.value = null;
        }
      },
      (error: unknown) => {
        if (mine === asked.current) {
          failure.value = sentenceOf(error);
        }
      },
    );
  };
  useEffect(() => {
    again();
    return () => void (asked.current += 1);
  }, inputs);
  useSignalEffect(() => {
    if (connection.value?.kind === "live" && failure.peek() !== null) {
      again();
    }
  });
  return { value: value.value, problem: noticeOf(failure.value), again };
}

function noticeOf(sentence: string | null): JSX.Element | null {
  return sentence === null ? null : <Notice kind="problem">{sentence}</Notice>;
}

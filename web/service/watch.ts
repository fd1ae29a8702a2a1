import { signal } from "@preact/signals";

import type { AccessInfo, DoctorReport, NodeInfo, WaitingInfo } from "../../src/entries/client.ts";
import { client, isOwner } from "../api.ts";
import { sentenceOf } from "../parts/sentence-of.ts";
import { type Sample, sampleOf, withSample } from "./samples.ts";

/** What was read, and when; a sentence if the last reading failed. What was read before stays. */
export interface Reading<Value> {
  readonly value: Value | null;
  readonly problem: string | null;
  readonly isReading: boolean;
}

const NOTHING = { value: null, problem: null, isReading: false } as const;

export const nodes = signal<Reading<readonly NodeInfo[]>>(NOTHING);
export const waiting = signal<Reading<readonly WaitingInfo[]>>(NOTHING);
export const doctor = signal<Reading<DoctorReport>>(NOTHING);
export const access = signal<Reading<readonly AccessInfo[]>>(NOTHING);
/** The samples that this tab has read, the oldest first. */
export const samples = signal<Reading<readonly Sample[]>>(NOTHING);
/** When something was last read, in milliseconds since 1970; null if nothing was. */
export const readAt = signal<number | null>(null);

const EVERY_MS = 5000;
/** The checks read more of the database than the rest. */
const CHECKS_EVERY_MS = 60_000;

/** Reads everything now and then until the returned function is called. A hidden tab reads nothing. */
export function watchService(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isReading = false;
  let checkedAt = -Infinity;
  const read = async (): Promise<void> => {
    if (isReading || document.hidden) {
      return;
    }
    clearTimeout(timer);
    isReading = true;
    const withChecks = performance.now() - checkedAt >= CHECKS_EVERY_MS;
    if (withChecks) {
      checkedAt = performance.now();
    }
    // one after the other: a browser has six connections, and streams have some of them
    await readOften();
    if (withChecks) {
      await readChecks();
    }
    isReading = false;
    timer = isEnded ? undefined : setTimeout(() => void read(), EVERY_MS);
  };
  let isEnded = false;
  const onVisible = (): void => void read();
  document.addEventListener("visibilitychange", onVisible);
  void read();
  return () => {
    isEnded = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onVisible);
  };
}

async function readOften(): Promise<void> {
  await readInto(nodes, () => client.listNodes());
  await readInto(waiting, () => client.listWaiting());
  await readInto(samples, async () =>
    withSample(samples.peek().value ?? [], sampleOf(await client.readMetrics(), Date.now())),
  );
  if (isOwner.peek()) {
    await readAccess();
  }
}

/** What `reprise doctor` checks. */
export function readChecks(): Promise<void> {
  return readInto(doctor, () => client.checkService());
}

export function readAccess(): Promise<void> {
  return readInto(access, () => client.listAccess());
}

async function readInto<Value>(
  reading: { value: Reading<Value>; peek: () => Reading<Value> },
  read: () => Promise<Value>,
): Promise<void> {
  reading.value = { ...reading.peek(), isReading: true };
  try {
    reading.value = { value: await read(), problem: null, isReading: false };
    readAt.value = Date.now();
  } catch (error) {
    reading.value = { ...reading.peek(), problem: sentenceOf(error), isReading: false };
  }
}

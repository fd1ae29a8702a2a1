import type { Status } from "./status.ts";

/**
 * What tabs say to each other about one thing that they follow. A tab that leads counts its events; a tab that missed
 * one asks, and gets the state after the event `k`.
 */
export type Wire<Event> =
  | { readonly kind: "ask" }
  | {
      readonly kind: "state";
      readonly term: string;
      readonly k: number;
      /** What brings a tab to the state; null if the tab that leads does not know it yet. */
      readonly event: Event | null;
      readonly status: Status;
    }
  | { readonly kind: "event"; readonly term: string; readonly k: number; readonly event: Event }
  | { readonly kind: "status"; readonly term: string; readonly status: Status };

/** Rises when the form of messages or states changes: tabs of two versions do not speak with each other. */
export const WIRE_VERSION = 1;

/** Null for what is not of this form. What an event holds is of this page's own version, so it is not checked again. */
export function readWire<Event>(raw: unknown): Wire<Event> | null {
  const message = Object(raw) as Readonly<Record<string, unknown>>;
  const { kind, term, k, event, status } = message;
  const isLed = typeof term === "string";
  const isNumbered = isLed && Number.isSafeInteger(k);
  const isRead =
    kind === "ask" ||
    (kind === "event" && isNumbered && isEvent(event)) ||
    (kind === "status" && isLed && isStatus(status)) ||
    (kind === "state" && isNumbered && (event === null || isEvent(event)) && isStatus(status));
  return isRead ? (raw as Wire<Event>) : null;
}

function isEvent(value: unknown): boolean {
  const { id, event, data } = Object(value) as Readonly<Record<string, unknown>>;
  return (
    typeof id === "string" &&
    typeof event === "string" &&
    (data === null || typeof data === "object")
  );
}

function isStatus(value: unknown): boolean {
  const { kind } = Object(value) as Readonly<Record<string, unknown>>;
  return typeof kind === "string";
}

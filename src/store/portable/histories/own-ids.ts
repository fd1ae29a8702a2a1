import { createHash } from "node:crypto";

/**
 * Makes an id of names, the same one each time, so that what is made of the same history twice is found again. The form is
 * that of a UUID of version 8.
 */
export function ownId(...names: readonly string[]): string {
  const hex = hashOf(names);
  const variant = "89ab"[Number.parseInt(hex[16] ?? "0", 16) % 4];
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}

/** Makes the id of a call, in the form that every provider takes. */
export function ownCallId(...names: readonly string[]): string {
  return `call_${hashOf(names).slice(0, 24)}`;
}

function hashOf(names: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(names)).digest("hex");
}

import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import {
  EXCHANGE_STATES,
  type ExchangeEventName,
  isFinal,
  stateAfter,
  statesBefore,
} from "../../src/core/exchanges.ts";

/** The rows of the table in the head of the module: `| from | to | when |`. */
function documented(): string[] {
  const text = readFileSync(new URL("../../src/core/exchanges.ts", import.meta.url), "utf8");
  return [...text.matchAll(/^ \* \| ([a-z, ]+) \| ([a-z]+) \| `([a-z_]+)`/gm)]
    .flatMap(([, from = "", to = "", event = ""]) =>
      from.split(", ").map((state) => `${state} ${event} ${to}`),
    )
    .sort();
}

it("[RECORD-3] an exchange changes as the table says, and in no other way", () => {
  const events = new Set(documented().map((row) => row.split(" ")[1] as ExchangeEventName));
  const possible = EXCHANGE_STATES.flatMap((state) =>
    [...events].flatMap((event) => {
      const next = stateAfter(state, event);
      return next === null ? [] : [`${state} ${event} ${next}`];
    }),
  );
  expect(possible.sort()).toEqual(documented());
  for (const event of events) {
    expect(statesBefore(event).every((state) => stateAfter(state, event) !== null)).toBe(true);
  }
  expect(EXCHANGE_STATES.filter(isFinal)).toEqual(["done", "failed", "stopped"]);
});

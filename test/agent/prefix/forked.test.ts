import { expect, it } from "vitest";

import { forkSession } from "../../../src/store/checkpoints/forks/fork-session.ts";
import { call, reasoning, text } from "../../helpers/providers/steps.ts";
import type { Script } from "../../helpers/providers/server.ts";
import { openBound } from "./bound-bench.ts";
import { breaksIn, hasResult } from "./requests.ts";

const thinking: Script = (index, body) => [
  reasoning(`Thought ${index}.`),
  hasResult(body) ? text(`Answer ${index}.`) : call("list_files", { path: "." }),
];

it("[FORK-4] the request of a fork adds to the one of its origin", async () => {
  const { provider, store, session, run } = await openBound(thinking);
  await run({ text: "one" });
  const after = provider.received.length;
  const fork = await store.write(forkSession, { session_id: session.id });
  await run({ session_id: fork.id, text: "another" });
  expect(provider.refusals()).toEqual([]);
  expect(provider.received.length).toBeGreaterThan(after);
  expect(breaksIn(provider.received)).toEqual([]);
});

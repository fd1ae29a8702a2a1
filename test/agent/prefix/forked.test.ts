import { expect, it } from "vitest";

import { forkSession } from "../../../src/store/checkpoints/forks/fork-session.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { expectSound } from "../../helpers/sessions/forks.ts";
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

it("[FORK-4] [FORK-27] the request of a fork of a fork whose origin is deleted adds to the first one of the origin", async () => {
  const { provider, store, session, run } = await openBound(thinking);
  await run({ text: "one" });
  const first = provider.received.slice();
  const { last_seq } = await store.read(readSession, { id: session.id });
  await run({ text: "two" });
  const fork = await store.write(forkSession, { session_id: session.id });
  await store.write(deleteSessionTree, { id: session.id });
  const below = await store.write(forkSession, { session_id: fork.id, at_seq: last_seq });
  expect(below.last_seq).toBe(last_seq);
  const before = provider.received.length;
  await run({ session_id: below.id, text: "another" });
  expect(provider.refusals()).toEqual([]);
  expect(breaksIn([...first, ...provider.received.slice(before)])).toEqual([]);
  await expectSound(store, fork.id, below.id);
});

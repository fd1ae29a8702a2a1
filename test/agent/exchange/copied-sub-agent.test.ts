import { expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { RepriseError } from "../../../src/core/errors.ts";
import { readNextQueued } from "../../../src/store/records/exchanges/ready.ts";
import { importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { readTreeIds } from "../../../src/store/records/sessions/tree-ids.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { queue, statesOf } from "../../helpers/queue.ts";

it("[QUEUE-54] a copy of a sub-agent answers what is queued in it, also after a node gave it back", async () => {
  const server = await startModelServer({
    answer: (messages) => {
      const last = messages.at(-1);
      const task = JSON.stringify({ persona: "assistant", task: "a task" });
      return last?.role === "user" && last.content === "delegate"
        ? { toolCalls: [{ name: "delegate", arguments: task }] }
        : { content: `to ${last?.content}` };
    },
  });
  const { store, run, session, parts } = await openBench(server);
  expect((await run({ text: "delegate" })).answer).toBe("to to a task");
  const [, child = ""] = await store.read(readTreeIds, session);
  const copy = withNewIds(await store.read(readSessionTree, { id: child }));
  await importTree(store, copy);
  const session_id = copy.session.id;
  await queue(store, session_id, "and more?");

  const exchanger = createExchanger(parts);
  const asNode = async (signal: AbortSignal) => {
    const next = await store.read(readNextQueued, { session_id });
    const { content: text, n = 0, revision = 0 } = next ?? { content: null };
    return exchanger.exchange(
      { session_id, text, claim: { n, revision } },
      { listener: () => undefined, signal },
    );
  };
  const leaving = AbortSignal.abort(new RepriseError("shutting_down", "The node stops."));
  await asNode(leaving);
  expect(await statesOf(store, session_id)).toEqual(["done", "queued"]);
  expect(await asNode(new AbortController().signal)).toMatchObject({
    state: "done",
    answer: "to and more?",
  });
  expect(await statesOf(store, session_id)).toEqual(["done", "done"]);
  const { messages } = await store.read(readDetail, { reference: session_id, all: true });
  expect(messages.map(({ content }) => content)).toEqual([
    "a task",
    "to a task",
    "and more?",
    "to and more?",
  ]);
  expect((await verifySession(store, session_id)).findings).toEqual([]);
});

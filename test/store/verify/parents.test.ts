import { expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { type VerifiedSession, verifySession } from "../../../src/store/verify/verify-session.ts";
import type { Session } from "../../../src/core/sessions.ts";
import { startThread } from "../../../src/store/records/sessions/change.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import type { Store } from "../../../src/store/store.ts";
import { execute } from "../../helpers/engines.ts";
import { openBench } from "../../helpers/exchanger.ts";
import {
  type ModelAnswer,
  type ModelServer,
  startModelServer,
} from "../../helpers/model-server.ts";

/*
 * What a sub-agent's session says of its parent is compared with the parent's messages. Whatever
 * happened to those by right, verify says nothing of the child.
 */

const live = { listener: () => undefined, signal: new AbortController().signal };

it("[PROOF-27] reports nothing about a child whose parent was cleared, compacted, or given another thread", async () => {
  const server = await startDelegating();
  const bench = await openBench(server);
  const { store, session } = bench;
  const atBirth: Promise<VerifiedSession>[] = [];
  await bench.run(
    { text: "delegate" },
    {
      listener: (event) => {
        if (event.type === "child") {
          atBirth.push(verifySession(store, event.child_session_id));
        }
      },
    },
  );
  expect(atBirth).toHaveLength(1);
  expect((await Promise.all(atBirth)).flatMap(({ findings }) => findings)).toEqual([]);

  await bench.run({ text: "two" });
  await bench.run({ text: "three" });
  const { outcome } = await createExchanger(bench.parts).compact({ session_id: session.id }, live);
  expect(outcome).toBe("compacted");
  expect(await kindsOf(store, session.id)).toEqual([]);
  for (const archive of [false, true]) {
    await store.write(startThread, { id: session.id, archive });
    await bench.run({ text: "and on" });
    expect(await kindsOf(store, session.id)).toEqual([]);
  }
  // and it is the parent's call that counts
  const [child] = await childrenOf(store, session.id);
  await execute(store, "UPDATE sessions SET parent_call_id = 'x' WHERE id = ?", child?.id ?? "");
  expect(await kindsOf(store, session.id)).toEqual(["parent"]);
});

it("[PROOF-27] reports nothing about a child whose parent's process died at any of its writes", async () => {
  const server = await startDelegating();
  const bench = await openBench(server);
  const { store } = bench;
  let isDone = false;
  let begun = 0;
  for (let writes = 0; !isDone; writes += 1) {
    const { id } = await store.write(createSession, { repo_path: bench.repo });
    const dying = dyingAfter(store, writes);
    const owner = { ...bench.parts.owner, pid: GONE };
    const exchanger = createExchanger({ ...bench.parts, store: dying, owner });
    isDone = await exchanger.exchange({ session_id: id, text: "delegate" }, live).then(
      () => true,
      () => false,
    );
    expect(await kindsOf(store, id)).toEqual([]);
    begun += (await childrenOf(store, id)).length;
  }
  // some died before they had begun one, others after that
  expect(begun).toBeGreaterThan(2);
});

/** The number of a process that certainly is not there: Linux gives out none above 2 ** 22. */
const GONE = 2 ** 22 + 1;

function dyingAfter(store: Store, writes: number): Store {
  let left = writes;
  return {
    ...store,
    write: (operation, input) =>
      left-- > 0 ? store.write(operation, input) : Promise.reject(new Error("died")),
  };
}

function startDelegating(): Promise<ModelServer> {
  let calls = 0;
  return startModelServer({
    answer: (messages): ModelAnswer => {
      if (messages.at(-1)?.content !== "delegate") {
        return { content: "done" };
      }
      calls += 1;
      const call = { persona: "reviewer", task: "count the files" };
      return {
        toolCalls: [{ id: `call_${calls}`, name: "delegate", arguments: JSON.stringify(call) }],
      };
    },
  });
}

async function childrenOf(store: Store, id: string): Promise<readonly Session[]> {
  const page = await store.read(listSessions, { limit: 10, parent_session_id: id });
  return page.sessions;
}

/** Of a session and its sub-agents. */
async function kindsOf(store: Store, id: string): Promise<string[]> {
  const ids = [id, ...(await childrenOf(store, id)).map((child) => child.id)];
  const proven = await Promise.all(ids.map((one) => verifySession(store, one)));
  return proven.flatMap(({ findings }) => findings.map(({ kind }) => kind));
}

import { expect, it } from "vitest";

import { createExchanger } from "../../src/agent/exchange.ts";
import { migrations } from "../../src/store/engines/migrations/history.ts";
import { importTree } from "../../src/store/portable/import-tree.ts";
import { parseExport } from "../../src/store/portable/parse.ts";
import { readSessionTree } from "../../src/store/portable/read-tree.ts";
import { exportText } from "../../src/store/portable/export-text.ts";
import type { Store } from "../../src/store/store.ts";
import { verifySession } from "../../src/store/verify/verify-session.ts";
import { describeEngines, openFresh } from "../helpers/engines.ts";
import { agentOptions } from "../helpers/exchanger.ts";
import { undoSteps } from "../helpers/older-database.ts";
import { makeSession } from "../helpers/sessions/steps.ts";
import { testSize } from "../helpers/size.ts";

/** The first that had checkpoints, then from the one before this program's backwards. */
const [FIRST = 0, ...LATER] = migrations.map(({ version }) => version).slice(1, -1);
const VERSIONS = [FIRST, ...LATER.toReversed()].slice(0, testSize("older-versions"));
const LAST = LATER.slice(-1);

describeEngines("what a Reprise has stored", (engine) => {
  it.each(engine.name === "sqlite" ? VERSIONS : LAST)(
    "[UPGRADE-11] of schema version %i opens, verifies, continues and is exported",
    async (version) => {
      const database = await engine.create();
      const older = await database.open();
      const id = await makeSession(older, {
        steps: [
          { do: "exchange", text: "one" },
          { do: "restart" },
          { do: "exchange", text: "two" },
          { do: "pending", text: "waits" },
        ],
        children: [{ steps: [{ do: "exchange", text: "a task" }], children: [] }],
      });
      await exchange(older, id, "three");
      const { messages, threads } = await older.read(readSessionTree, { id });
      await undoSteps(older, version);
      await older.close();

      const store = await database.open();
      const tree = await store.read(readSessionTree, { id });
      expect(tree.threads.map(({ bodies }) => bodies)).toEqual(threads.map(({ bodies }) => bodies));
      expect(tree.messages.map(({ content }) => content)).toEqual(
        messages.map(({ content }) => content),
      );
      await expectSound(store, id);
      const [child] = tree.children;
      await expectSound(store, child?.session.id ?? "");
      await exchange(store, id, "four");
      await expectSound(store, id);

      const there = await openFresh(engine);
      const text = [...exportText(tree, "2026-01-01T00:00:00.000Z")].join("");
      await importTree(there, parseExport(text));
      await exchange(there, id, "four");
      await expectSound(there, id);
    },
  );
});

async function exchange(store: Store, session_id: string, text: string): Promise<void> {
  const live = { listener: () => undefined, signal: new AbortController().signal };
  await createExchanger(agentOptions(store)).exchange({ session_id, text }, live);
}

async function expectSound(store: Store, id: string): Promise<void> {
  expect((await verifySession(store, id)).findings).toEqual([]);
}

import { execFileSync } from "node:child_process";
import { join } from "node:path";

import { expect, it } from "vitest";

import { importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import type { SessionTree } from "../../../src/store/portable/export-schema.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { benchWithTwoExchanges } from "../../helpers/sessions/bench.ts";

/** A store that records when its write begins. */
function recording(store: Store, steps: string[]): Store {
  return {
    ...store,
    write: (operation, input) => {
      steps.push("write");
      return store.write(operation, input);
    },
  };
}

/** A copy of a session whose first message reports when it is read. */
async function observedCopy(store: Store, id: string, onRead: () => void): Promise<SessionTree> {
  const tree = withNewIds(await store.read(readSessionTree, { id }));
  const [first, ...others] = tree.messages;
  if (first === undefined) {
    throw new Error("the session has no message");
  }
  const observed = Object.defineProperty({ ...first }, "content", {
    enumerable: true,
    get: () => {
      onRead();
      return first.content;
    },
  });
  return { ...tree, messages: [observed, ...others] };
}

const count = async (store: Store): Promise<number> =>
  (await store.read(listSessions, { limit: 100 })).sessions.length;

it("[MOVE-27] an import is compared with its checkpoints before its write begins", async () => {
  const bench = await benchWithTwoExchanges();
  const steps: string[] = [];
  const tree = await observedCopy(bench.store, bench.id, () => steps.push("read"));
  const ids = await importTree(recording(bench.store, steps), tree);
  expect(ids).toEqual([tree.session.id]);
  // compared, then stored in one write
  expect(steps[0]).toBe("read");
  expect(steps.filter((step) => step === "write")).toHaveLength(1);
});

it("[MOVE-27] another process can write while an import is compared", async () => {
  const home = freshHome();
  await home.call(["-p", "hello"]);
  await using store = await openSqliteStore({ path: home.database });
  const { id } = (await store.read(listSessions, { limit: 1 })).sessions[0] ?? { id: "" };
  const other = await store.write(createSession, {});
  const reprise = join(home.home, ".bin", "reprise");
  let ended = "";
  const tree = await observedCopy(store, id, () => {
    ended ||= execFileSync(process.execPath, [reprise, "sessions", "end", other.id], {
      env: home.environment(),
      encoding: "utf8",
    });
  });
  await importTree(store, tree);
  expect(ended).toContain(other.id);
  expect(await store.read(readSession, { id: other.id })).toMatchObject({ state: "ended" });
});

it("[MOVE-22] a tree that does not verify begins no write", async () => {
  const bench = await benchWithTwoExchanges();
  const steps: string[] = [];
  const tree = withNewIds(await bench.store.read(readSessionTree, { id: bench.id }));
  const messages = tree.messages.map((one) => ({ ...one, content: `${one.content}!` }));
  const refused = importTree(recording(bench.store, steps), { ...tree, messages });
  await expect(refused).rejects.toMatchObject({ code: "export_invalid" });
  expect(steps).toEqual([]);
  expect(await count(bench.store)).toBe(1);
});

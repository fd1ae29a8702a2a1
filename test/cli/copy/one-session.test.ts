import { join } from "node:path";

import { expect, it } from "vitest";

import { createSession } from "../../../src/store/records/sessions/create.ts";
import { readTreeIds } from "../../../src/store/records/sessions/tree-ids.ts";
import { readSessionIds } from "../../../src/store/records/sessions/trees/walk.ts";
import type { Store } from "../../../src/store/store.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { makeAllKinds } from "../../helpers/sessions/all-kinds.ts";
import { exportsOf } from "../../helpers/sessions/stored.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

it("[COPY-30] moves one session with its sub-agents to a database that has others", async () => {
  const home = freshHome();
  const folder = temporaryFolder();
  const [from, to] = [join(folder, "a.db"), join(folder, "b.db")];
  let tree: readonly string[];
  let exported: ReadonlyMap<string, string>;
  {
    await using source = await openStoreAt(from);
    await makeAllKinds(source, { sessions: 22, messages: 22 });
    tree = await largestTree(source);
    exported = await exportsOf(source);
    await using target = await openStoreAt(to);
    await target.write(createSession, {});
  }
  const [root = "", child = ""] = tree;
  const copy = ["copy", "--from", from, "--to", to];

  const refused = await home.call([...copy, "--session", child]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`is a sub-agent and is copied with its parent`);
  const unknown = await home.call([...copy, "--session", "ffffffff"]);
  expect(unknown.stderr).toContain("[session_not_found]");

  const report = await home.json([...copy, "--session", root.slice(0, 8), "--json"]);
  expect(report).toMatchObject({
    ok: true,
    copied: { sessions: tree.length },
    present: { sessions: 0 },
    changed: [],
  });
  const again = await home.call([...copy, "--session", root]);
  expect(again.stdout).toContain("Copied: 0 sessions");
  expect(again.code).toBe(0);

  await using target = await openStoreAt(to);
  const there = await exportsOf(target);
  expect(there.size).toBe(tree.length + 1);
  for (const id of tree) {
    expect(there.get(id) === exported.get(id), `the export of ${id} is the same`).toBe(true);
  }

  // deleting it in the source completes the move and leaves the others
  expect((await home.call(["sessions", "delete", root, "--yes", "--database", from])).code).toBe(0);
  await using source = await openStoreAt(from);
  const left = await exportsOf(source);
  expect([...left.keys()]).toEqual([...exported.keys()].filter((id) => !tree.includes(id)));
  expect((await home.call(["sessions", "verify", "--database", to])).code).toBe(0);
});

async function largestTree(store: Store): Promise<readonly string[]> {
  const roots = await store.read(readSessionIds, { after: "", limit: 1000, roots: true });
  const trees = await Promise.all(roots.map((each) => store.read(readTreeIds, each)));
  return trees.reduce((most, tree) => (tree.length > most.length ? tree : most));
}

import { join } from "node:path";

import { it, onTestFinished } from "vitest";

import { tokenHolder } from "../../../../src/core/principal.ts";
import { openSqliteStore } from "../../../../src/store/engines/sqlite/open.ts";
import { copyStore } from "../../../../src/store/portable/copy-store.ts";
import { exportText } from "../../../../src/store/portable/export-text.ts";
import { importTree, withNewIds } from "../../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../../src/store/portable/read-tree.ts";
import { writeSessionTree } from "../../../../src/store/portable/write-tree.ts";
import { deleteSessionTree } from "../../../../src/store/records/sessions/delete-tree.ts";
import { patchSession } from "../../../../src/store/records/sessions/patch.ts";
import { pruneSession } from "../../../../src/store/records/sessions/prune.ts";
import { readSessionIds } from "../../../../src/store/records/sessions/trees/walk.ts";
import { moveSession } from "../../../../src/store/records/sessions/trees/move.ts";
import { readSession } from "../../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngines, openFresh } from "../../../helpers/engines.ts";
import { seededRandom } from "../../../helpers/random.ts";
import { forkOf } from "../../../helpers/sessions/forks.ts";
import { repair } from "../../../helpers/sessions/repair.ts";
import { expectFound } from "../../../helpers/sessions/searched.ts";
import { makeSession, runStep } from "../../../helpers/sessions/steps.ts";
import { testSize } from "../../../helpers/size.ts";
import { temporaryFolder } from "../../../helpers/temp.ts";

const KINDS = [
  "exchange",
  "exchange",
  "fork",
  "fork",
  "edit",
  "remove",
  "branch",
  "clear",
  "fold",
  "name",
  "archive",
  "delete",
  "prune",
  "import",
  "return",
  "move",
  "copy",
  "repair",
  "pending",
] as const;
type Kind = (typeof KINDS)[number];

const WORDS = ["river", "Mühle", "東京都", "edited", "after", "x".repeat(20)];
const PROJECTS = ["0123456789abcdef", "fedcba9876543210"];
const principal = tokenHolder("owner");

describeEngines("a search among changes of families", (engine) => {
  it("[SEARCH-5] [SEARCH-6] [SEARCH-12] [SEARCH-21] [FORK-6] finds what a scan finds after each of them", async () => {
    const random = seededRandom(`search-families on ${engine.name}`);
    const below = (end: number): number => Math.floor(random() * end);
    const one = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;
    const store = await openFresh(engine);
    const text = (): string => `${one(WORDS)} ${one(WORDS)} ${below(100)}`;
    const exchange = () => ({ do: "exchange", text: text() }) as const;
    await makeSession(store, { steps: [exchange(), exchange()], children: [] });
    for (let step = 0; step < testSize("search-families"); step += 1) {
      const ids = await store.read(readSessionIds, { after: "", limit: 1000, roots: false });
      const { id } = one(ids);
      const kind = ids.length > 8 ? "delete" : one<Kind>(KINDS);
      await change(kind, id);
      await expectFound(
        store,
        {
          word: one(WORDS),
          archived: random() < 0.3,
          project_key: random() < 0.3 ? one(PROJECTS) : undefined,
        },
        `${step}: ${kind} of ${id}`,
      );
    }

    async function change(kind: Kind, id: string): Promise<unknown> {
      switch (kind) {
        case "exchange":
          return runStep(store, id, exchange());
        case "fork": {
          const { last_seq } = await store.read(readSession, { id });
          return forkOf(store, id, random() < 0.3 ? undefined : below(last_seq + 1));
        }
        case "edit":
        case "remove":
          return runStep(store, id, { do: kind, at: below(9) });
        case "branch":
          return runStep(store, id, { do: "fork", at: below(9) });
        case "clear":
        case "fold":
          return runStep(store, id, { do: kind });
        case "pending":
          return runStep(store, id, { do: "pending", text: text() });
        case "name":
        case "archive": {
          const given = kind === "name" ? { name: text() } : { archived: random() < 0.5 };
          const patch = { reference: id, change: given, project_key: null, principal };
          return store.write(patchSession, patch);
        }
        case "delete":
        case "prune": {
          const last =
            (await store.read(readSessionIds, { after: "", limit: 2, roots: true })).length < 2;
          if (last) {
            return undefined;
          }
          return kind === "delete"
            ? store.write(deleteSessionTree, { id })
            : store.write(pruneSession, { id, older_than_ms: -60_000, state: null });
        }
        case "import": {
          const tree = await store.read(readSessionTree, { id });
          const exported = [...exportText(tree, "2026-01-01T00:00:00.000Z")].join("");
          return importTree(store, withNewIds(parseExport(exported)));
        }
        case "return": {
          const tree = await store.read(readSessionTree, { id });
          await store.write(deleteSessionTree, { id });
          await expectFound(store, { word: one(WORDS), archived: true }, `without ${id}`);
          return store.write(writeSessionTree, { tree });
        }
        case "move": {
          const folder = { repo_path: "/other", project_key: one(PROJECTS), project_id: null };
          return store.write(moveSession, { id, ...folder, principal });
        }
        case "copy":
          return copyAndSearch(store);
        case "repair":
          return repair(store, id);
      }
    }

    async function copyAndSearch(source: Store): Promise<void> {
      const target = await openSqliteStore({ path: join(temporaryFolder(), "copy.db") });
      onTestFinished(() => target.close());
      await copyStore({ source, target, intoExisting: false, onProgress: () => {} });
      for (const word of WORDS) {
        await expectFound(target, { word, archived: true }, "copy");
      }
      await target.close();
    }
  }, 3_600_000);
});

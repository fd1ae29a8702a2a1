import { Command } from "commander";

import type { SessionSummary } from "../../../core/schemas/schemas.ts";
import { projectKeyOf } from "../../../store/project-key.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import { readSummaryTexts } from "../../../store/records/sessions/summaries.ts";
import {
  listFamilyTrees,
  readFamilyTree,
  type TreeMember,
} from "../../../store/records/sessions/trees/family-tree.ts";
import type { Store } from "../../../store/store.ts";
import { age } from "../../output/ages.ts";
import { aligned } from "../../output/aligned.ts";
import { statesOf } from "../../output/facts.ts";
import { shortIds } from "../../output/table.ts";
import { treeTitles } from "../../output/tree-titles.ts";
import { type CliContext, noticeLine, printJson, printLines } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { limitOf } from "../limit-option.ts";

type Tree = readonly TreeMember[];

/** `sessions tree [id]`: an origin, its forks and sub-agents as one tree. */
export function treeCommand(cli: CliContext): Command {
  const command = new Command("tree")
    .description("draw a session with its origin, its forks and sub-agents")
    .argument("[id]", "an id, or the first 6 or more characters of it (default: this folder's)")
    .option("--limit <n>", "without an id: the maximum number of trees, or all", limitOf, 50)
    .option("--json", "print an array of trees, each an array of session summaries")
    .action(async (reference: string | undefined, options: { limit: number; json?: true }) => {
      await using store = await openDatabase(cli, command);
      const { trees, more } =
        reference === undefined
          ? await store.read(listFamilyTrees, {
              project_key: await projectKeyOf(cli.cwd),
              limit: options.limit,
            })
          : { trees: [await treeOf(store, reference)], more: false };
      if (options.json === true) {
        printJson(cli, await summariesOf(store, trees));
        return;
      }
      if (trees.length === 0) {
        noticeLine(cli, "No session of this folder has forks or sub-agents.");
        return;
      }
      await printTrees(cli, store, trees);
      if (more) {
        noticeLine(cli, "There are more; --limit all shows every one.");
      }
    });
  return withStore(command);
}

async function treeOf(store: Store, reference: string): Promise<Tree> {
  return store.read(readFamilyTree, await store.read(resolveSession, { reference }));
}

async function summariesOf(store: Store, trees: readonly Tree[]): Promise<SessionSummary[][]> {
  const all = await store.read(
    readSummaryTexts,
    trees.flat().map(({ session }) => session.id),
  );
  return trees.map((tree) =>
    tree.flatMap(({ session }) => {
      const text = all.get(session.id);
      return text === undefined ? [] : [JSON.parse(text) as SessionSummary];
    }),
  );
}

async function printTrees(cli: CliContext, store: Store, trees: readonly Tree[]): Promise<void> {
  const terminal = cli.stdout.terminal();
  if (terminal === null) {
    printLines(cli, await treeLines(store, trees));
    return;
  }
  const [{ treeTableRows }, { themeOf }] = await Promise.all([
    import("../../terminal/picker/tree-table.ts"),
    import("../../terminal/text/theme-of.ts"),
  ]);
  const view = { width: terminal.size().columns, theme: await themeOf(cli), now: Date.now() };
  cli.stdout.printRows(await treeTableRows(store, trees, view));
}

async function treeLines(store: Store, trees: readonly Tree[]): Promise<string[]> {
  const sessions = trees.flat().map(({ session }) => session);
  const states = await statesOf(store, sessions);
  const ids = shortIds(sessions);
  const now = Date.now();
  const rows = trees.flatMap((tree) => {
    const titles = treeTitles(tree);
    return tree.map(({ session }, index) => [
      ids.get(session.id) ?? session.id,
      states.get(session.id) ?? session.activity,
      age(now - Date.parse(session.last_message_at ?? session.created_at)),
      String(session.last_seq),
      `${titles[index]?.branch ?? ""}${titles[index]?.text ?? ""}`,
    ]);
  });
  return aligned([["ID", "STATE", "ACTIVE", "MESSAGES", "TREE"], ...rows]);
}

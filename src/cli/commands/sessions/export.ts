import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { Command, Option } from "commander";

import { resolveSession } from "../../../store/records/sessions/read.ts";
import type { Store } from "../../../store/store.ts";
import { sessionsOf, type SessionTree } from "../../../store/portable/export-schema.ts";
import { readSessionTree } from "../../../store/portable/read-tree.ts";
import { exportText } from "../../../store/portable/export-text.ts";
import { inconsistencyOf } from "../../../store/portable/consistency.ts";
import { firstDifference } from "../../../store/verify/verify-session.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { transcript } from "../../output/transcript.ts";

/** `sessions export <id>`: all of a session, its sub-agents too, on standard output. */
export function exportCommand(cli: CliContext): Command {
  const command = new Command("export")
    .description("write a session with its checkpoints and sub-agents to standard output")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .addOption(
      new Option("--format <format>", "json to import it elsewhere, markdown to read it")
        .choices(["json", "markdown"])
        .default("json"),
    )
    .action(async (reference: string, options: { format: "json" | "markdown" }) => {
      await using store = await openDatabase(cli, command);
      const { id } = await store.read(resolveSession, { reference });
      const tree = await store.read(readSessionTree, { id });
      const json = options.format === "json";
      const text = json
        ? exportText(tree, new Date().toISOString())
        : transcript(tree, { level: 1 });
      // waits for a slow reader instead of keeping it all in memory twice
      await pipeline(Readable.from(text), cli.stdout.sink(json ? "json" : "text"));
      const doubt = json ? await doubtOf(store, tree) : null;
      if (doubt !== null) {
        noticeLine(cli, `This export cannot be imported, because it does not verify: ${doubt}`);
        cli.exitCode = 1;
      }
    });
  return withStore(command);
}

/** Says what an import would refuse: the user has to know it before deleting what was exported. */
async function doubtOf(store: Store, tree: SessionTree): Promise<string | null> {
  const problem = inconsistencyOf(tree);
  if (problem !== null) {
    return `${problem.pointer}: ${problem.message}`;
  }
  for (const { session } of sessionsOf(tree)) {
    const difference = await firstDifference(store, session.id);
    if (difference !== null) {
      return `${session.id}: ${difference}`;
    }
  }
  return null;
}

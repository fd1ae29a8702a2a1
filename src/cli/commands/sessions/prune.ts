import { Command, Option } from "commander";

import { SESSION_STATES, type SessionState } from "../../../core/sessions.ts";
import {
  deletedSession,
  type DeletionPreview,
} from "../../../store/records/sessions/delete-tree.ts";
import { pruneSession, readPrunable } from "../../../store/records/sessions/prune.ts";
import { type CliContext, noticeLine, printJson, printLines } from "../../process/context.ts";
import { forgetDeleted } from "../../../store/search.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { olderThan } from "../../output/ages.ts";
import { confirmDeletion } from "../confirm-deletion.ts";
import { forgetKept } from "../forget-kept.ts";
import { deletionLines } from "./deletion-lines.ts";
import { plural } from "../../../core/text/text.ts";

interface PruneOptions {
  readonly olderThan: string;
  readonly state: SessionState | "all";
  readonly waiting?: true;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly json?: true;
}

/** `sessions prune --older-than 90d`: deletes sessions that were not used for so long. */
export function pruneCommand(cli: CliContext): Command {
  const command = new Command("prune")
    .description("delete sessions that have not been used for a while, with their sub-agents")
    .requiredOption(
      "--older-than <time>",
      "how long without activity, such as 36h, 90d or 12w (required)",
    )
    .addOption(
      new Option("--state <state>", "only sessions in this state")
        .choices([...SESSION_STATES, "all"])
        .default("ended"),
    )
    .option("--waiting", "also those with an exchange that is queued or waits for an answer")
    .option("--dry-run", "only show what would be deleted")
    .option("--yes", "do not ask")
    .option("--json", "print a JSON array of what is deleted")
    .action(async (options: PruneOptions) => {
      const prunable = {
        older_than_ms: olderThan(options.olderThan),
        state: options.state === "all" ? null : options.state,
        waiting: options.waiting === true,
      };
      await using store = await openDatabase(cli, command);
      const found = await store.read(readPrunable, prunable);
      if (options.dryRun === true || found.length === 0) {
        show(cli, options, { verb: "Would delete", sessions: found.flat() });
        return;
      }
      const question = `Delete ${plural(found.flat().length, "session")}?`;
      const lines = found.flatMap(deletionLines);
      if (options.yes !== true && !(await confirmDeletion(cli, lines, question))) {
        return;
      }
      // deletes each in a transaction, so that others who write wait for one deletion at most
      const deleted = await Array.fromAsync(found, ([root]) =>
        root === undefined ? [] : store.write(pruneSession, { ...prunable, id: root.session.id }),
      );
      await forgetKept(cli, deleted.flat());
      await forgetDeleted(store);
      show(cli, options, { verb: "Deleted", sessions: deleted.flat() });
    });
  return withStore(command);
}

const NONE_FOUND: Readonly<Record<PruneOptions["state"], string>> = {
  ended: "No ended session is that old. --state all includes active ones.",
  active: "No active session is that old. --state all includes ended ones.",
  all: "No session is that old.",
};

function show(
  cli: CliContext,
  options: PruneOptions,
  { verb, sessions }: { verb: string; sessions: readonly DeletionPreview[] },
): void {
  if (options.json === true) {
    printJson(cli, sessions.map(deletedSession));
  } else if (sessions.length === 0) {
    noticeLine(cli, NONE_FOUND[options.state]);
  } else {
    const heading = `${verb} ${plural(sessions.length, "session")}:`;
    printLines(cli, [heading, ...deletionLines(sessions)]);
  }
}

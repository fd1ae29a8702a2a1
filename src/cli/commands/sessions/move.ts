import { Command } from "commander";

import { localPrincipal } from "../../../core/principal.ts";
import { exactLine, titleLine } from "../../../core/text/terminal-text.ts";
import { localUser } from "../../../store/records/leases/local-user.ts";
import { moveSession } from "../../../store/records/sessions/trees/move.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import { readSummary } from "../../../store/records/sessions/summaries.ts";
import { ask, isYes } from "../../process/ask.ts";
import { type CliContext, noticeLine, printJson, printLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { discardInput } from "../../process/discard-input.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { projectOf } from "../chat/new-session.ts";

interface MoveOptions {
  readonly repo: string;
  readonly yes?: true;
  readonly json?: true;
}

/** `sessions move <id> --repo <path>`: the session continues in another folder. */
export function moveCommand(cli: CliContext): Command {
  const command = new Command("move")
    .description("let a session and its sub-agents continue in another folder")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .requiredOption("--repo <path>", "the folder in which they continue")
    .option("--yes", "do not ask")
    .option("--json", "print the session as JSON")
    .action(async (reference: string, options: MoveOptions) => {
      const project = await projectOf(cli, { repo: options.repo });
      await using store = await openDatabase(cli, command);
      const { id, repo_path } = await store.read(resolveSession, { reference });
      const folder = exactLine(project.repo_path);
      if (options.yes !== true && !(await isConfirmed(cli, { from: repo_path, folder }))) {
        return;
      }
      const principal = localPrincipal("terminal", localUser());
      const session = await store.write(moveSession, { id, ...project, principal });
      if (options.json === true) {
        printJson(cli, await store.read(readSummary, { id }));
      } else {
        printLine(cli, `Moved to ${folder}: ${session.id}  ${titleLine(session)}`);
      }
    });
  return withStore(command);
}

/** Error codes: `invalid_usage` if there is no terminal to answer on. */
async function isConfirmed(
  cli: CliContext,
  { from, folder }: { readonly from: string | null; readonly folder: string },
): Promise<boolean> {
  if (cli.stdin.isTTY !== true) {
    throw wrongUsage(
      "Nothing was moved, because there is no terminal to confirm on. Use --yes to move without a question.",
    );
  }
  noticeLine(
    cli,
    `The session works in ${from === null ? "no folder" : exactLine(from)}. Files are not moved. What you allowed in this session counts no more, and undo of earlier changes stays in the old folder.`,
  );
  const answer = await ask(cli, { question: `Move it to ${folder}? [y/N] `, on: cli.stderr });
  await discardInput(cli.stdin);
  if (!isYes(answer)) {
    noticeLine(cli, "Nothing was moved.");
    cli.exitCode = 1;
    return false;
  }
  return true;
}

import { Command, Option } from "commander";

import { PROGRAMS, type Program } from "../../../compat/histories/history.ts";
import { titleLine } from "../../../core/text/terminal-text.ts";
import { type SessionTree, sessionsOf } from "../../../store/portable/export-schema.ts";
import { atRest, importTree, withNewIds } from "../../../store/portable/import-tree.ts";
import { type CliContext, note, printJson, printLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { plural } from "../../../core/text/text.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { readExport } from "../read-export.ts";
import { showFolders } from "./show-folders.ts";

interface ImportOptions {
  readonly from?: Program;
  readonly all?: true;
  readonly dryRun?: true;
  readonly newIds?: true;
  readonly json?: true;
}

/** `sessions import <file|->`: everything that an export holds, in one transaction, or histories of other programs. */
export function importCommand(cli: CliContext): Command {
  const command = new Command("import")
    .description(
      "store a session that `sessions export` wrote, or conversations of another program, with their sub-agents",
    )
    .argument("[file]", "the export, or the program's file; - reads an export from standard input")
    .addOption(new Option("--from <program>", "the program that wrote it").choices(PROGRAMS))
    .option("--all", "with --from: all conversations in the program's own folder")
    .option("--dry-run", "with --from: only show what would be stored")
    .option("--new-ids", "store it as a copy, under new ids")
    .option(
      "--json",
      "print a JSON object: the session's id and all ids; with --from, each session",
    )
    .action(async (file: string | undefined, options: ImportOptions) => {
      if (options.from !== undefined) {
        const { importForeign } = await import("./import-foreign.ts");
        await importForeign(cli, command, { ...options, from: options.from, file });
        return;
      }
      if (options.all === true || options.dryRun === true) {
        throw wrongUsage("--all and --dry-run need --from and the name of a program.");
      }
      if (file === undefined) {
        throw wrongUsage("Name the file of an export, or a program with --from.");
      }
      await importExport(cli, command, { ...options, file });
    });
  return withStore(command);
}

async function importExport(
  cli: CliContext,
  command: Command,
  options: ImportOptions & { readonly file: string },
): Promise<void> {
  // loaded here: it compiles schemas, and the help of every command loads this file
  const { parseExport } = await import("../../../store/portable/parse.ts");
  const read = parseExport(await readExport(cli, options.file));
  const resting = atRest(read, new Date().toISOString());
  const tree = options.newIds === true ? withNewIds(resting) : resting;
  await using store = await openDatabase(cli, command);
  const ids = await importTree(store, tree);
  const stopped = [...sessionsOf(read)].flatMap(({ session }) =>
    (session.exchanges ?? []).filter(({ state }) => state === "queued"),
  ).length;
  if (stopped > 0) {
    note(cli, `${plural(stopped, "queued exchange")} will not run here; send the messages again.`);
  }
  if (hasReasoning(tree)) {
    note(cli, REASONING_MAY_GO);
  }
  if (options.json === true) {
    printJson(cli, { id: tree.session.id, ids });
    return;
  }
  for (const { session, messages } of sessionsOf(tree)) {
    const count = plural(messages.length, "message");
    printLine(cli, `Imported: ${session.id}  ${count}  ${titleLine(session)}`);
  }
  showFolders(
    cli,
    [...sessionsOf(tree)].map(({ session }) => session.repo_path),
  );
}

const REASONING_MAY_GO =
  "The model's earlier reasoning is sent to it only if its instructions and tools are the same here to the last character. If another version or persona answers, it is left out; messages, calls and results stay.";

/** Members of a stored message, in the forms of all providers; in its text, quotes would be escaped. */
const REASONING =
  /"type":"(?:thinking|redacted_thinking|reasoning)"|"reasoning_(?:content|details)":/;

/** True if a thread that may be continued holds reasoning. */
function hasReasoning(tree: SessionTree): boolean {
  return [...sessionsOf(tree)].some(
    ({ session, threads }) =>
      session.state === "active" &&
      threads.some(
        ({ suffix, bodies }) =>
          suffix === session.thread_suffix && bodies.some((body) => REASONING.test(body)),
      ),
  );
}

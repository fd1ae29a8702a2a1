import { Command } from "commander";

import { oneLine, titleLine } from "../../../core/text/terminal-text.ts";
import { type SessionTree, sessionsOf } from "../../../store/portable/export-schema.ts";
import { atRest, importTree, withNewIds } from "../../../store/portable/import-tree.ts";
import { type CliContext, note, printJson, printLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { plural } from "../../../core/text/text.ts";
import { readExport } from "../read-export.ts";

/** `sessions import <file|->`: everything that an export holds, in one transaction. */
export function importCommand(cli: CliContext): Command {
  const command = new Command("import")
    .description(
      "store a session that `sessions export` wrote, with its checkpoints and sub-agents",
    )
    .argument("<file>", "the export; - reads it from standard input")
    .option("--new-ids", "store it as a copy, under new ids")
    .option("--json", "print a JSON object: the session's id and all ids")
    .action(async (file: string, options: { newIds?: true; json?: true }) => {
      // loaded here: it compiles schemas, and the help of every command loads this file
      const { parseExport } = await import("../../../store/portable/parse.ts");
      const read = parseExport(await readExport(cli, file));
      const resting = atRest(read, new Date().toISOString());
      const tree = options.newIds === true ? withNewIds(resting) : resting;
      await using store = await openDatabase(cli, command);
      const ids = await importTree(store, tree);
      const stopped = [...sessionsOf(read)].flatMap(({ session }) =>
        (session.exchanges ?? []).filter(({ state }) => state === "queued"),
      ).length;
      if (stopped > 0) {
        note(
          cli,
          `${plural(stopped, "queued exchange")} will not run here; send the messages again.`,
        );
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
      showFolders(cli, tree);
    });
  return withStore(command);
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

/** The file's author chose the folder that tools will work in: the user should know it beforehand. */
function showFolders(cli: CliContext, tree: SessionTree): void {
  const folders = new Set([...sessionsOf(tree)].map(({ session }) => session.repo_path));
  for (const folder of folders) {
    if (folder !== null) {
      note(cli, `The agent's tools will read and write files in ${oneLine(folder)}`);
    }
  }
}

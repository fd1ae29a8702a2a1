import { Command } from "commander";

import { readDetail } from "../../../store/records/messages/read.ts";
import { readLabelsOf } from "../../../store/records/sessions/labels.ts";
import { readSummary } from "../../../store/records/sessions/summaries.ts";
import { readReasoning } from "../../../store/verify/read-reasoning.ts";
import { type CliContext, printJson } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import type { RawTerminal } from "../../process/raw-terminal.ts";
import { wholeNumber } from "../../process/wrong-usage.ts";
import { printShown } from "../../output/show-lines.ts";
import { readShown, type ShownSession } from "../../output/shown.ts";

interface ShowOptions {
  readonly all?: true;
  readonly beforeSeq?: number;
  readonly json?: true;
  readonly reasoning?: true;
  readonly pager: boolean;
}

/** `sessions show <id>`: the session and its last 200 messages; `--before-seq` reads further back. */
export function showCommand(cli: CliContext): Command {
  const command = new Command("show")
    .description("show a session and its last 200 messages")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option("--all", "include archived messages, and earlier ones that were not sent")
    .option(
      "--before-seq <n>",
      "show messages before this position",
      wholeNumber("--before-seq", 1),
    )
    .option("--reasoning", "show also what the model thought, where its provider shows it")
    .option("--no-pager", "in a terminal, print all at once")
    .option("--json", "print the session as the HTTP API returns it")
    .action(async (id: string, options: ShowOptions) => {
      await using store = await openDatabase(cli, command);
      const detail = await store.read(readDetail, {
        reference: id,
        all: options.all === true,
        before_seq: options.beforeSeq,
      });
      const { id: session_id } = detail.session;
      const labels = (await store.read(readLabelsOf, { ids: [session_id] })).get(session_id);
      const reasoning =
        options.reasoning === true ? await store.read(readReasoning, { session_id }) : null;
      if (options.json === true) {
        const { messages, has_earlier } = detail;
        const summary = await store.read(readSummary, { id: session_id });
        const thoughts = reasoning === null ? {} : { reasoning: Object.fromEntries(reasoning) };
        printJson(cli, { ...summary, messages, has_earlier, ...thoughts });
        return;
      }
      const shown = await readShown({ cli, command, store }, detail, {
        labels,
        reasoning,
        all: options.all === true,
      });
      const terminal = cli.stdout.terminal();
      if (terminal === null) {
        printShown(cli, shown);
      } else {
        await showOnTerminal({ cli, terminal, shown }, options);
      }
    });
  return withStore(command);
}

async function showOnTerminal(
  { cli, terminal, shown }: { cli: CliContext; terminal: RawTerminal; shown: ShownSession },
  { pager }: ShowOptions,
): Promise<void> {
  const [{ transcriptRows }, { themeOf }, { page }] = await Promise.all([
    import("../../terminal/rows/transcript.ts"),
    import("../../terminal/text/theme-of.ts"),
    import("../../output/page.ts"),
  ]);
  const theme = await themeOf(cli);
  const rows = await transcriptRows(shown, { width: terminal.size().columns, theme });
  await (pager ? page(cli, terminal, rows) : cli.stdout.printRows(rows));
}

import { Command, Option } from "commander";

import { costOf } from "../../../core/cost/cost-fields.ts";
import { type Detail, readDetail } from "../../../store/records/messages/read.ts";
import { usageOfSession } from "../../../store/records/model-calls/read-usage.ts";
import { readLabelsOf } from "../../../store/records/sessions/labels.ts";
import { readSummary } from "../../../store/records/sessions/summaries.ts";
import {
  readReasoning,
  type ReadReasoning,
  type StoredReasoning,
} from "../../../store/verify/read-reasoning.ts";
import type { Store } from "../../../store/store.ts";
import { type CliContext, noticeLine, printJson } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import type { RawTerminal } from "../../process/raw-terminal.ts";
import { wholeNumber, wrongUsage } from "../../process/wrong-usage.ts";
import { printShown } from "../../output/show-lines.ts";
import { readShown, type ShownSession } from "../../output/shown.ts";

interface ShowOptions {
  readonly all?: true;
  readonly beforeSeq?: number;
  readonly at?: number;
  readonly json?: true;
  readonly reasoning?: true;
  readonly pager: boolean;
}

/** `sessions show <id>`: the session and its last 200 messages; `--before-seq` reads further back, `--at` around one. */
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
    .addOption(
      new Option("--at <n>", "show the message at this position and those around it")
        .argParser(wholeNumber("--at", 1))
        .conflicts("beforeSeq"),
    )
    .option("--reasoning", "show also what the model thought, where its provider shows it")
    .option("--no-pager", "in a terminal, print all at once")
    .option("--json", "print the session as the HTTP API returns it")
    .action(async (id: string, options: ShowOptions) => {
      await using store = await openDatabase(cli, command);
      const detail = await readPart(store, id, options);
      const { id: session_id } = detail.session;
      const labels = (await store.read(readLabelsOf, { ids: [session_id] })).get(session_id);
      const reasoning =
        options.reasoning === true ? await store.read(readReasoning, rangeOf(detail)) : null;
      if (options.json === true) {
        const { messages, has_earlier } = detail;
        const summary = await store.read(readSummary, { id: session_id });
        const cost = costOf(await store.read((tx) => usageOfSession(tx, session_id), null));
        const thoughts = reasoning === null ? {} : { reasoning: textsOf(reasoning, null) };
        printJson(cli, { ...summary, ...cost, messages, has_earlier, ...thoughts });
        return;
      }
      const read = await readShown({ cli, command, store }, detail, {
        labels,
        reasoning: reasoning === null ? null : new Map(Object.entries(textsOf(reasoning, HIDDEN))),
        all: options.all === true,
      });
      // those come after the last message, which may not be shown
      const shown = options.at === undefined ? read : { ...read, queued: [], unsent: [] };
      const terminal = cli.stdout.terminal();
      if (terminal === null) {
        printShown(cli, shown);
      } else {
        await showOnTerminal({ cli, terminal, shown }, options);
      }
      const last = detail.messages.at(-1)?.seq ?? 0;
      if (options.at !== undefined && last < detail.session.last_seq) {
        noticeLine(cli, `Later messages: --at ${last + 1}`);
      }
    });
  return withStore(command);
}

/** Messages that are shown before the one of `--at`, and after it. */
const BEFORE = 3;
const AFTER = 20;

/** The last messages, those before a position, or those around one. */
async function readPart(
  store: Store,
  reference: string,
  { all: isAll, beforeSeq, at }: ShowOptions,
): Promise<Detail> {
  const all = isAll === true;
  if (at === undefined) {
    return store.read(readDetail, { reference, all, before_seq: beforeSeq });
  }
  const detail = await store.read(readDetail, { reference, all, before_seq: at + AFTER + 1 });
  if (!detail.messages.some(({ seq }) => seq === at)) {
    throw wrongUsage(
      `The session shows no message at ${at}.${all ? "" : " Add --all if it is archived."}`,
    );
  }
  const messages = detail.messages.filter(({ seq }) => seq >= at - BEFORE);
  const has_earlier = detail.has_earlier || messages.length < detail.messages.length;
  return { ...detail, messages, has_earlier };
}

const HIDDEN = "(hidden by the provider)";

function rangeOf({ session, messages }: Detail): ReadReasoning {
  const [first, last] = [messages[0]?.seq ?? 0, messages.at(-1)?.seq ?? 0];
  return {
    session_id: session.id,
    after_seq: first - 1,
    before_seq: last + 1,
    limit: messages.length,
  };
}

/** The texts by the ids of their answers. */
function textsOf<Hidden extends string | null>(
  found: readonly StoredReasoning[],
  hidden: Hidden,
): Readonly<Record<string, string | Hidden>> {
  return Object.fromEntries(
    found.map(({ message_id, text, is_hidden }) => [message_id, is_hidden ? hidden : text]),
  );
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

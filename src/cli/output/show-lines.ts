import { oneLine, titleLine, visible } from "../../core/text/terminal-text.ts";
import { changeLines } from "./change-lines.ts";
import { type CliContext, noticeLine, printLine, printLines } from "../process/context.ts";
import { type Fact, factsOf, messageMarks, sendAgainLine, unsentMarks } from "./show-facts.ts";
import { QUEUED_SHOWN, type ShownSession } from "./shown.ts";
import { marksText, statusMarks } from "../../exchange/transcript/texts.ts";

/** Lines of a file's diff under its call; `sessions changes` shows more. */
export const DIFF_LINES_SHOWN = 30;

/** A session and its messages in full, for a pipe or a file. */
export function printShown(cli: CliContext, shown: ShownSession): void {
  const { session, labels, messages, has_earlier, unconfirmed, changes, withheld } = shown;
  printLines(cli, [
    titleLine({ ...session, ...labels }),
    ...factsOf(shown, (iso) => iso).map(factLine),
  ]);
  const [first] = messages;
  if (has_earlier && first !== undefined) {
    noticeLine(cli, `Earlier messages: --before-seq ${first.seq}`);
  }
  for (const message of messages) {
    const source = unconfirmed.messages.get(message.seq);
    const marks = `${messageMarks(message, source)}${marksText(statusMarks(message.status))}`;
    printLine(cli, "");
    printLine(
      cli,
      `#${message.seq} ${message.role}  ${message.ts}${marks === "" ? "" : ` ${marks}`}`,
    );
    printLines(cli, reasoningLines(shown.reasoning?.get(message.message_id)));
    if (message.content !== "") {
      printLine(cli, visible(message.content));
    }
    for (const call of message.tool_calls ?? []) {
      printLine(cli, `· ${oneLine(call.name)} ${oneLine(JSON.stringify(call.args) ?? "")}`);
      printLines(cli, changeLines(changes.get(call.id) ?? [], { max: DIFF_LINES_SHOWN, withheld }));
    }
  }
  printUnsent(cli, shown);
  printQueued(cli, shown);
}

/** What a model thought, each line after a mark: none of it can pass for a line of the answer. */
function reasoningLines(text: string | undefined): readonly string[] {
  return text === undefined
    ? []
    : visible(text)
        .trimEnd()
        .split("\n")
        .map((line) => `  ┆ ${line}`);
}

function factLine({ label, text }: Fact): string {
  return label === null ? `  ${text}` : `  ${label.padEnd(9)} ${text}`;
}

/** Messages that no agent has got: their words are nowhere else in the session. */
function printUnsent(cli: CliContext, { session, unsent, sendAgain }: ShownSession): void {
  for (const { n, content, queued_at, error_code } of unsent) {
    printLine(cli, "");
    printLine(cli, `exchange ${n} user  ${queued_at ?? ""} ${unsentMarks(error_code)}`);
    printLine(cli, visible(content));
  }
  if (unsent.length > 0) {
    noticeLine(cli, sendAgainLine(session, sendAgain));
  }
}

function printQueued(cli: CliContext, { queued }: ShownSession): void {
  for (const { n, content, queued_at } of queued.slice(0, QUEUED_SHOWN)) {
    printLine(cli, "");
    printLine(cli, `exchange ${n} user  ${queued_at ?? ""} ${marksText({ queued: true })}`);
    printLine(cli, visible(content));
  }
  if (queued.length > QUEUED_SHOWN) {
    noticeLine(cli, "More messages are queued.");
  }
}

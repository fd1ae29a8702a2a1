import { Command } from "commander";

import { exactLine, oneLine, visible } from "../../../core/text/terminal-text.ts";
import { readLastMessages } from "../../../store/checkpoints/threads/last-messages.ts";
import {
  readThreadStats,
  type ThreadStats,
} from "../../../store/checkpoints/threads/thread-stats.ts";
import type { MirrorMessage } from "../../../store/records/messages/mirror-message.ts";
import { type CliContext, printJson, printLines } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { wholeNumber } from "../../process/wrong-usage.ts";

interface ShowOptions {
  readonly last: number;
  readonly json?: true;
}

/** `threads show <id>`: how large it is, its state and its last messages. */
export function showCommand(cli: CliContext): Command {
  const command = new Command("show")
    .description("show a thread and its last messages")
    .argument("<id>", "the id of the thread, whole")
    .option("--last <n>", "how many messages", wholeNumber("--last", 0), 20)
    .option("--json", "print a JSON object")
    .action(async (thread_id: string, { last, json }: ShowOptions) => {
      await using store = await openDatabase(cli, command);
      const stats = await store.read(readThreadStats, { thread_id });
      const messages = await store.read(readLastMessages, { thread_id, limit: last });
      if (json === true) {
        printJson(cli, { ...stats, last_messages: messages.map(messageDocument) });
        return;
      }
      printLines(cli, heading(stats));
      for (const message of messages) {
        printLines(cli, messageLines(message));
      }
    });
  return withStore(command);
}

function heading(stats: ThreadStats): string[] {
  return [
    exactLine(stats.thread_id),
    `  session      ${stats.session_id ?? "none"}`,
    `  state        ${stats.interrupted ? "interrupted" : "idle"}`,
    `  messages     ${stats.messages}`,
    `  branches     ${stats.branches}`,
    `  checkpoints  ${stats.checkpoints}, ${stats.bytes} bytes`,
    `  first        ${oneLine(stats.first_checkpoint_at ?? "-")}`,
    `  latest       ${oneLine(stats.last_checkpoint_at ?? "-")}`,
  ];
}

function messageLines({ role, content, tool_calls }: MirrorMessage): string[] {
  return [
    "",
    role,
    ...(content === "" ? [] : [visible(content)]),
    ...(tool_calls ?? []).map(
      ({ name, args }) => `· ${oneLine(name)} ${oneLine(JSON.stringify(args) ?? "")}`,
    ),
  ];
}

function messageDocument({
  message_id,
  role,
  content,
  tool_calls,
  call_id = null,
  status = null,
}: MirrorMessage) {
  return { message_id, role, content, tool_calls, call_id, status };
}

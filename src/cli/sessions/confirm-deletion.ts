import { titleLine } from "../../core/terminal-text.ts";
import type { DeletionPreview } from "../../store/sessions/delete-tree.ts";
import { ask, isYes } from "../ask.ts";
import { type CliContext, noticeLine } from "../context.ts";
import { plural } from "../../core/text.ts";
import { discardInput } from "../discard-input.ts";
import { wrongUsage } from "../wrong-usage.ts";

/** Shows what goes and asks. Without a yes nothing is deleted, and the exit code is 1. */
export async function confirmDeletion(
  cli: CliContext,
  lines: readonly string[],
  question: string,
): Promise<boolean> {
  noticeLine(cli, ["This deletes for good:", ...lines].join("\n"));
  const yes = await confirm(cli, question);
  if (!yes) {
    noticeLine(cli, "Nothing was deleted.");
    cli.exitCode = 1;
  }
  return yes;
}

/**
 * Asks before something that cannot be undone.
 *
 * Error codes: `invalid_usage` if there is no terminal to answer on.
 */
async function confirm(cli: CliContext, question: string): Promise<boolean> {
  if (cli.stdin.isTTY !== true) {
    throw wrongUsage(
      "Nothing was deleted, because there is no terminal to confirm on. Use --yes to delete without a question.",
    );
  }
  const answer = await ask(cli, { question: `${question} [y/N] `, on: cli.stderr });
  await discardInput(cli.stdin);
  return isYes(answer);
}

/** A line for each session that goes: sub-agents are indented below their parent. */
export function deletionLines(previews: readonly DeletionPreview[]): string[] {
  const top = previews[0]?.session.depth ?? 0;
  return previews.map(({ session, messages, threads, checkpoints }) => {
    const indent = "  ".repeat(session.depth - top + 1);
    return `${indent}${session.id}  ${titleLine(session)}  (${session.state}; ${plural(messages, "message")}, ${plural(threads, "thread")}, ${plural(checkpoints, "checkpoint")})`;
  });
}

/** The same for programs. */
export function deletionDocument({ session, ...counts }: DeletionPreview): Record<string, unknown> {
  return {
    id: session.id,
    title: session.title,
    parent_session_id: session.parent_session_id,
    ...counts,
  };
}

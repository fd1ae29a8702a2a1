import { visible } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import { readForkPoint } from "../../../store/checkpoints/forks/fork-point.ts";
import { listChangedAfter } from "../../../store/records/file-changes/read.ts";
import { listSentMessages, readSentMessage } from "../../../store/records/messages/sent.ts";
import { readOrigins } from "../../../store/records/sessions/trees/family-tree.ts";
import type { UndoneExchange } from "../../../exchange/undo/undo-after.ts";
import type { Store } from "../../../store/store.ts";
import { undoLines } from "../../output/change-lines.ts";
import { noticeLine } from "../../process/context.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import type { RewindPlan } from "../../output/rewind-choices.ts";
import { messageOf, openFork, SHOWN_ID } from "./fork.ts";
import type { SlashContext } from "./slash-context.ts";

/** Messages to choose from. */
const LISTED = 500;

/**
 * `/rewind`: undoes what exchanges after a message changed in files, and continues before that message in a fork, with
 * its text at the prompt; a person chooses which of both. Error codes: `invalid_usage`, `session_busy`, and as `forkSession`.
 */
export async function rewindSlash(context: SlashContext, argument: string): Promise<void> {
  const { cli, conversation, front, store } = context;
  const session_id = conversation.current()?.id;
  const seq = messageOf("rewind", argument);
  const limit = seq === undefined ? LISTED + 1 : 0;
  const messages =
    session_id === undefined ? [] : await store.read(listSentMessages, { session_id, limit });
  if (session_id === undefined || (seq === undefined && messages.length === 0)) {
    throw wrongUsage("You have sent no message yet, so there is none to go back to.");
  }
  const plan = (each: number): Promise<RewindPlan> => planRewind(context, session_id, each);
  const chosen = seq === undefined ? null : await plan(seq);
  const source = {
    messages: messages.slice(0, LISTED),
    more: messages.length > LISTED,
    chosen,
    plan,
  };
  const picked =
    chosen?.lines.length === 0
      ? { plan: chosen, choice: "fork" as const }
      : await front.rewind(source);
  if (picked === null) {
    noticeLine(cli, "Nothing was changed.");
    return;
  }
  const { message, after } = picked.plan;
  const undone = picked.choice === "fork" ? [] : await conversation.undoAfter(after, false);
  for (const line of undone.flatMap((each) => undoneLines(each, { diffs: false }))) {
    noticeLine(cli, line);
  }
  const notes = [...picked.plan.notes, ...redoNote(undone, session_id)];
  if (picked.choice === "files") {
    notes.forEach((note) => noticeLine(cli, note));
    return;
  }
  await openFork(context, message.seq - 1, notes);
  front.giveBack({ text: visible(message.text), pasted: true });
}

async function planRewind(
  { conversation, store }: SlashContext,
  session_id: string,
  seq: number,
): Promise<RewindPlan> {
  const message = await store.read(readSentMessage, { session_id, seq });
  const point = await store.read(readForkPoint, { session_id, at_seq: seq - 1 });
  const undone = await conversation.undoAfter(point.seq, true);
  const lines = undone.flatMap((each) => undoneLines(each, { diffs: true }));
  return {
    message,
    after: point.seq,
    lines: undone.length === 0 ? [] : [summaryOf(undone), ...lines],
    notes: await notesOf(store, session_id, point.seq),
  };
}

function summaryOf(undone: readonly UndoneExchange[]): string {
  const outcomes = undone.flatMap(({ files }) => files.map(({ outcome }) => outcome));
  const refused = outcomes.filter((outcome) => outcome === "refused").length;
  const failed = undone.filter(({ problem }) => problem !== null).length;
  const cannot = [
    ...(refused === 0 ? [] : [plural(refused, "change")]),
    ...(failed === 0 ? [] : [`all changes of ${plural(failed, "exchange")}`]),
  ];
  const rest = cannot.length === 0 ? "" : `; ${cannot.join(" and ")} cannot be undone`;
  return `${plural(undone.length, "exchange")} from there on changed files${rest}.`;
}

function undoneLines(undone: UndoneExchange, shown: { readonly diffs: boolean }): string[] {
  const { n, problem } = undone;
  return [
    `exchange ${n}`,
    ...(problem === null ? undoLines(undone, "undo", shown) : [`not undone: ${problem}`]),
  ];
}

function redoNote(undone: readonly UndoneExchange[], session_id: string): string[] {
  const isUndone = undone.some(({ files }) => files.some(({ outcome }) => outcome === "restored"));
  const id = session_id.slice(0, SHOWN_ID);
  return isUndone
    ? [`\`reprise sessions redo ${id}\` makes the changes of its last undone exchange again.`]
    : [];
}

/** Sentences about changes that a person may expect to be undone, and are not. */
async function notesOf(store: Store, session_id: string, after_seq: number): Promise<string[]> {
  const changed = await store.read(listChangedAfter, { session_id, after_seq });
  const isUndone = changed.some(({ undone }) => undone > 0);
  const origins = await store.read(readOrigins, { ids: [session_id] });
  const seq = origins.get(session_id)?.seq ?? 0;
  return [
    ...(isUndone ? ["Some changes of files from there on had been undone already."] : []),
    ...(after_seq < seq
      ? [
          `This session begins after message ${seq} of its origin: what was changed in files before is undone there.`,
        ]
      : []),
  ];
}

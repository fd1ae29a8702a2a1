import { oneLine } from "../../../core/text/terminal-text.ts";
import type { Conversation } from "../../../exchange/conversation.ts";
import { noticeLine } from "../../process/context.ts";
import { switchedSentences } from "../switched.ts";
import { noticeWithdrawn } from "../withdrawn.ts";
import type { SlashContext } from "./slash-context.ts";
import { readModels } from "./slash-values.ts";

/** `/model <name>` */
export async function freshModel(context: SlashContext, model: string): Promise<void> {
  await context.conversation.checkModel(model);
  await startThread(context, { archive: false, model });
}

/** Lets a person choose another model; without a list to choose from, shows the one of the session. */
export async function pickModel(context: SlashContext): Promise<void> {
  const { conversation, front } = context;
  const { model: now } = conversation.planned();
  if (front.pickModel === null) {
    showModel(context);
    return;
  }
  const models = await readModels(context);
  const current = now ?? models.find(({ is_default }) => is_default)?.name ?? null;
  const picked = await front.pickModel(models, current);
  if (picked === null) {
    showModel(context);
  } else {
    await (picked.keeps ? switchModel : freshModel)(context, picked.model);
  }
}

function showModel({ cli, conversation }: SlashContext): void {
  noticeLine(cli, `model: ${oneLine(conversation.planned().model ?? "the default")}`);
}

/** `/switch <name>` */
export async function switchModel(context: SlashContext, model: string): Promise<void> {
  const { cli, conversation } = context;
  if (model === "") {
    await pickModel(context);
    return;
  }
  if (model === conversation.planned().model) {
    showModel(context);
    return;
  }
  await conversation.switchModel(model);
  for (const sentence of await switchedSentences(conversation)) {
    noticeLine(cli, sentence);
  }
}

/** Begins a thread, and says what the agent and the person still have of the one before. */
export async function startThread(
  { cli, conversation }: SlashContext,
  change: Parameters<Conversation["startThread"]>[0],
): Promise<void> {
  const open = await conversation.openQuestions();
  await conversation.leave("clear", (sentence) => noticeLine(cli, sentence));
  const session = await conversation.startThread(change);
  noticeLine(
    cli,
    change.archive
      ? `All messages are archived; the agent has a fresh context (thread ${session.thread_suffix}).`
      : `The agent has a fresh context (thread ${session.thread_suffix}); the messages are kept.`,
  );
  noticeWithdrawn(cli, open, open.length === 0 ? [] : await conversation.openQuestions());
}

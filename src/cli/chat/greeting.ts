import { oneLine } from "../../core/text/terminal-text.ts";
import { threadId } from "../../core/threads.ts";
import { isFolder } from "../../workspace/files/is-folder.ts";
import { isRepriseError } from "../../core/errors.ts";
import { isDemo } from "../../rules/models/name.ts";
import { modelSettings } from "../../rules/models/settings.ts";
import { workFolder } from "../../rules/trust/wide-folder.ts";
import { settingsOf, trustSource } from "../process/config.ts";
import type { CliContext } from "../process/context.ts";
import { FOLDER_MISSING, limitText } from "./folder-limit.ts";
import { plural } from "../../core/text/text.ts";
import type { Store } from "../../store/store.ts";
import { nameOf } from "../output/name-of.ts";
import type { Answering } from "./who-answers.ts";
import type { Conversation } from "../../exchange/conversation.ts";
import type { Front } from "./front.ts";

/** Returns what a terminal session begins with: who answers, in which folder, and how to get help. */
export async function greeting(input: {
  readonly cli: CliContext;
  readonly store: Store;
  readonly conversation: Conversation;
  readonly answering: Answering;
  readonly front: Pick<Front, "hints">;
}): Promise<string[]> {
  const { cli, store, conversation, answering, front } = input;
  const session = conversation.current();
  const { persona_name, repo_path } = conversation.planned();
  const { agent, model } = answering;
  const who = agent ?? `${persona_name} · ${model ?? ""}`;
  const lines = [
    `reprise ${cli.version} · ${oneLine(who)}`,
    ...(agent === null ? [await folderLine(cli, repo_path)] : []),
    session === null
      ? `A new session. /help shows the commands, ${front.hints.stop}`
      : `Session ${front.hints.session(threadId(session.id, session.thread_suffix))} · ${plural(session.last_seq, "message")} · ${oneLine((await nameOf(store, session)) ?? "no title yet")}`,
    ...front.hints.keys,
  ];
  if (model !== null && isDemo(model)) {
    lines.push(
      "The offline demo answers from what this session remembers; it is not a real model.",
      "To use one, run `reprise setup`, or /connect here.",
    );
  }
  return model === null ? lines : [...lines, ...(await keyLines(cli, repo_path, model))];
}

/** Says that the model has no key, which the first message would be refused for. */
async function keyLines(
  cli: CliContext,
  repo_path: string | null,
  name: string,
): Promise<string[]> {
  try {
    const { models } = await settingsOf(cli).at(repo_path);
    modelSettings({ name, config: models });
    return [];
  } catch (error) {
    if (!isRepriseError(error)) {
      throw error;
    }
    return error.code === "model_key_missing" ? [error.message, "/connect sets one up here."] : [];
  }
}

async function folderLine(cli: CliContext, repo_path: string | null): Promise<string> {
  if (repo_path === null) {
    return "No folder: the agent has no file tools.";
  }
  const folder = `Folder ${oneLine(repo_path)}`;
  if (!(await isFolder(repo_path))) {
    return `${folder}, ${FOLDER_MISSING}`;
  }
  const { limit } = await workFolder(repo_path, trustSource(cli));
  if (limit === null) {
    return folder;
  }
  return limit.kind === "too_wide"
    ? `${folder} · too wide for file tools; name it with --repo to allow them.`
    : `${folder} · ${limitText(limit)}`;
}

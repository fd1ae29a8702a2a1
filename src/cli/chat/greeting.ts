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

/** Facts that a session in a terminal begins with. Names need not be clean, sentences are. */
export interface Greeting {
  readonly version: string;
  /** The agent of a module; null for the built-in one. */
  readonly agent: string | null;
  readonly persona: string | null;
  readonly model: string | null;
  /** Null for an agent of a module, which has no folder. */
  readonly folder: GreetingFolder | null;
  /** Null for a new one. */
  readonly session: {
    readonly thread: string;
    readonly messages: number;
    readonly title: string;
  } | null;
  /** Sentences about the model. */
  readonly notes: readonly string[];
}

interface GreetingFolder {
  /** Null without one. */
  readonly path: string | null;
  /** Names it, and says what is not possible in it. */
  readonly sentence: string;
  /** Whether the sentence says more than the path. */
  readonly isLimited: boolean;
}

/** Returns who answers, in which folder, and what a person should know before the first message. */
export async function greeting(input: {
  readonly cli: CliContext;
  readonly store: Store;
  readonly conversation: Conversation;
  readonly answering: Answering;
}): Promise<Greeting> {
  const { cli, store, conversation, answering } = input;
  const session = conversation.current();
  const { persona_name, repo_path } = conversation.planned();
  const { agent, model } = answering;
  return {
    version: cli.version,
    agent,
    persona: persona_name,
    model,
    folder: agent === null ? await folderOf(cli, repo_path) : null,
    session:
      session === null
        ? null
        : {
            thread: threadId(session.id, session.thread_suffix),
            messages: session.last_seq,
            title: (await nameOf(store, session)) ?? "no title yet",
          },
    notes: [
      ...(model !== null && isDemo(model) ? DEMO_LINES : []),
      ...(model === null ? [] : await keyLines(cli, repo_path, model)),
    ],
  };
}

const DEMO_LINES = [
  "The offline demo answers from what this session remembers; it is not a real model.",
  "To use one, run `reprise setup`, or /connect here.",
];

/** The greeting of a terminal that shows lines. */
export function greetingLines({
  version,
  agent,
  persona,
  model,
  folder,
  session,
  notes,
}: Greeting): string[] {
  return [
    `reprise ${version} · ${oneLine(agent ?? `${persona} · ${model ?? ""}`)}`,
    ...(folder === null ? [] : [folder.sentence]),
    session === null
      ? "A new session. /help shows the commands, Ctrl-C stops an answer."
      : sessionLine(session),
    ...notes,
  ];
}

/** `Session 3a311862 · 9 messages · Write digits` */
export function sessionLine({ thread, messages, title }: NonNullable<Greeting["session"]>): string {
  return `Session ${thread} · ${plural(messages, "message")} · ${oneLine(title)}`;
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

async function folderOf(cli: CliContext, path: string | null): Promise<GreetingFolder> {
  if (path === null) {
    return { path, sentence: "No folder: the agent has no file tools.", isLimited: true };
  }
  const folder = `Folder ${oneLine(path)}`;
  if (!(await isFolder(path))) {
    return { path, sentence: `${folder}, ${FOLDER_MISSING}`, isLimited: true };
  }
  const { limit } = await workFolder(path, trustSource(cli));
  if (limit === null) {
    return { path, sentence: folder, isLimited: false };
  }
  const what =
    limit.kind === "too_wide"
      ? "too wide for file tools; name it with --repo to allow them."
      : limitText(limit);
  return { path, sentence: `${folder} · ${what}`, isLimited: true };
}

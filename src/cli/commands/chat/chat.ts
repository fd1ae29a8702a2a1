import { resolve } from "node:path";

import type { Command } from "commander";

import { holdsAnything } from "../../../rules/trust/holds-anything.ts";
import { workFolder } from "../../../rules/trust/wide-folder.ts";
import { isFolder } from "../../../workspace/files/is-folder.ts";
import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import { isRepriseError } from "../../../core/errors.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { failureLine, readFailures } from "../../../store/records/sessions/failures.ts";
import { readSession } from "../../../store/records/sessions/read.ts";
import type { Store } from "../../../store/store.ts";
import { type ChatOptions, refuseBadOptions, runsOnce, whenBusy } from "./chat-options.ts";
import { findSession, isOwnChoice, selectSession } from "./select-session.ts";
import { databaseLocation, exchangerConfig, trustSource } from "../../process/config.ts";
import { type CliContext, type Consent, note, noticeLine } from "../../process/context.ts";
import { databaseOption, openDatabase } from "../../process/database.ts";
import { ASKS, DENIED } from "../../process/exit-code.ts";
import { FOLDER_MISSING, limitText } from "../../chat/folder-limit.ts";
import { type Conversation, createConversation } from "../../../exchange/conversation.ts";
import { HandedInPlan } from "../../process/handed-in.ts";
import { createFromOutside } from "../../chat/from-outside.ts";
import { createSandboxNote } from "../../chat/sandbox-note.ts";
import { runConversation } from "../../chat/run.ts";
import { sendOnce } from "../../chat/send.ts";
import type { Front } from "../../chat/front.ts";
import { openLines } from "../../lines/front.ts";
import type { SessionSource } from "../../terminal/picker/picker-source.ts";
import type { ScreenOptions } from "../../terminal/screen-options.ts";
import { createPlainView } from "../../lines/plain-view.ts";
import { showFailure } from "../../chat/show-failure.ts";
import { principalOf, folderOfPerson } from "./new-session.ts";
import { ownSecrets } from "../../process/own-secrets.ts";
import { withoutQuestions } from "../permission-options.ts";
import type { OpenSession } from "../../chat/slash/slash-context.ts";
import { type NextChat, nextChat, sessionsToOpen } from "./next-chat.ts";
import { promptText } from "../../chat/prompt-text.ts";
import { questionLines, reasonLine } from "../../output/question-lines.ts";
import { answerCommandLine, resumeCommand } from "../../process/resume-command.ts";
import { screenTerminal } from "./screen-terminal.ts";
import { enterFolder } from "../trust/enter-folder.ts";
import { whoAnswers } from "../../chat/who-answers.ts";
import { switchedSentences } from "../../chat/switched.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

/** `reprise`: one exchange with `-p`, else a session line by line until its input ends. */
export async function chatAction(
  cli: CliContext,
  program: Command,
  { options, watchRun }: { readonly options: ChatOptions; readonly watchRun: WatchRun },
): Promise<void> {
  refuseBadOptions(options);
  await using store = await openDatabase(cli, program);
  const talks = cli.stdin.isTTY === true && !runsOnce(options);
  const run = talks ? await namedRun(store, options) : null;
  if (run !== null) {
    await watchRun(store, run);
    return;
  }
  await chat({ cli, store, command: program, options });
}

/** Shows the run of a session in the place of a conversation. */
type WatchRun = (store: Store, session_id: string) => Promise<void>;

interface ChatInput {
  cli: CliContext;
  store: Store;
  command: Command;
  options: ChatOptions;
}

/**
 * The way from the options to a session that talks, and on to others that the person opens in it; `sessions resume` comes in
 * here too. A session that cannot be opened leaves the one before.
 */
export async function chat(input: ChatInput): Promise<void> {
  let next: NextChat | null = { options: input.options, before: null };
  while (next !== null) {
    next = await chatOrBack(input, next);
  }
}

async function chatOrBack(
  input: ChatInput,
  { options, before }: NextChat,
): Promise<NextChat | null> {
  const back = before === null ? null : { options: before, before: null };
  try {
    const after = await chatOnce({ ...input, options });
    return after === "left" ? back : after;
  } catch (error) {
    if (!isRepriseError(error) || back === null) {
      throw error;
    }
    noticeLine(input.cli, error.message);
    return back;
  }
}

/** Runs one session. `left`: the person did not enter its folder. */
async function chatOnce(input: ChatInput): Promise<NextChat | "left" | null> {
  const { cli, store, options } = input;
  const events = options["json=events"] === true;
  const json = options.json === true || events;
  const text = await promptText(cli, options.prompt);
  const oneExchange = runsOnce(options);
  cli.consent = consentOf(cli, options);
  const ask = cli.stdin.isTTY === true && !oneExchange && !json;
  using agent = options.agent === undefined ? null : await cli.openAgent(cli.cwd, options.agent);
  const fromOutside = createFromOutside({
    cli,
    store,
    accept: options.acceptPending === true,
    isOwn: (session, field) => isOwnChoice(input, session, field),
  });
  const chosen = await selectSession({
    cli,
    store,
    options,
    agent: agent?.name ?? null,
    // an agent of --agent uses nothing of what trust is about
    enter: async (folder) =>
      agent !== null || enterFolder({ cli, folder, from: folderOfPerson(cli, options), ask }),
    confirmChoices: fromOutside.confirmChoices,
  });
  if (chosen === null) {
    return "left";
  }
  const location = databaseLocation(cli, databaseOption(input.command));
  const config = exchangerConfig(cli, store, { location });
  const secrets = ownSecrets(cli, { location });
  let hasDenied = false;
  const handedIn = new HandedInPlan(cli, input.command);
  const conversation = createConversation({
    config: {
      ...config,
      secrets,
      defaultAnswer: options.answerAfter,
      onPlan: handedIn.onPlan,
      permission: {
        allow: options.allow ?? [],
        asks: options.questions !== false,
        onDenied: () => (hasDenied = true),
      },
    },
    openExchanger: agent?.openExchanger ?? cli.openExchanger,
    agent: agent?.name ?? null,
    start: chosen,
    whenBusy: whenBusy(options),
    principal: principalOf(cli, options),
    confirmation: fromOutside,
  });
  const talk = { cli, conversation, json, events };
  const sessions = (): Promise<SessionSource> => sessionsToOpen({ cli, store, conversation });
  const answering =
    agent === null
      ? await whoAnswers(cli, conversation.planned())
      : { agent: agent.name, model: null, notes: [], leavesAddress: false };
  if (options.prompt !== undefined && answering.leavesAddress) {
    throw wrongUsage(
      "OPENAI_BASE_URL is set, but nothing names a model. Add --model openai:<name>, or --model demo for the offline demo.",
    );
  }
  const before =
    json || options.continueExchange === true
      ? []
      : await exchangeNotes(store, conversation, oneExchange);
  const notes = [
    ...(json ? [] : chosen.notices),
    ...(!json && chosen.isSwitched === true ? await switchedSentences(conversation) : []),
    // the greeting of a terminal shows the folder and what is limited there
    ...(json || ask ? [] : await folderNotes(conversation)),
    ...before,
    ...(oneExchange && agent === null ? await limitNotes(cli, conversation) : []),
    ...(agent === null ? await repositoryNotes(cli, conversation) : []),
    ...answering.notes,
  ];
  for (const sentence of notes) {
    note(cli, sentence);
  }
  const { beforeSend, hasSandbox } =
    ask && agent === null && config.sandbox !== undefined
      ? createSandboxNote({ cli, conversation, sandbox: config.sandbox })
      : { beforeSend: async () => {}, hasSandbox: () => null };
  let next: OpenSession | null = null;
  let canContinue = false;
  try {
    next = await (!oneExchange
      ? runConversation({
          ...talk,
          store,
          front: await openFront(
            { cli, store, conversation, answering, secrets, hasSandbox, sessions },
            options,
          ),
          secrets,
          askWith: fromOutside.askWith,
          handedIn,
          answering,
          beforeSend,
        })
      : sendOnce({
          ...talk,
          text,
          whenLimited: options.whenLimited ?? "fail",
          // its process may also have died since the notes were made
          view: async () => createPlainView(cli, { saysSkips: before.length === 0 }),
        }).then(() => null));
    if (oneExchange && !json) {
      handedIn.show(conversation);
    }
    if (oneExchange && hasDenied && cli.exitCode === 0) {
      cli.exitCode = DENIED;
    }
  } catch (error) {
    // the command to resume comes after the error: a message that failed can be sent again
    const shown = await showFailure(talk, error);
    cli.exitCode = shown.exitCode;
    canContinue = shown.canContinue && oneExchange;
  }
  await conversation.leave(oneExchange ? "other" : "prompt_input_exit", (sentence) =>
    note(cli, sentence),
  );
  if (cli.exitCode === ASKS) {
    const open = await conversation.openQuestions();
    const asked = open.flatMap((each) => [...questionLines(each), ...reasonLine(each)]);
    for (const line of json ? [] : asked) {
      noticeLine(cli, line);
    }
    const id = conversation.current()?.id ?? "";
    const hints = json ? [] : withoutQuestions(open);
    hints.forEach((hint) => noticeLine(cli, hint));
    if (!json) {
      noticeLine(cli, `Answer with: ${answerCommandLine(cli, input.command, id)}`);
    }
  }
  const session = conversation.current();
  if (next !== null) {
    return nextChat(input, next, conversation);
  }
  if (session !== null && !json && (await isActive(store, session.id))) {
    const again = canContinue ? " --continue-exchange" : "";
    noticeLine(cli, `Resume with: ${resumeCommand(cli, input.command, session.id)}${again}`);
  }
  return null;
}

/** The session of `--session` if it runs a plan: it has no conversation. Null for another one. */
async function namedRun(store: Store, { session }: ChatOptions): Promise<string | null> {
  const named = session === undefined ? null : await findSession(store, session);
  return named?.agent === PLAN_AGENT ? named.id : null;
}

/** A screen for a person at a terminal, unless plain lines are asked for; lines for everybody else. */
async function openFront(
  session: Omit<ScreenOptions, "terminal">,
  options: ChatOptions,
): Promise<Front> {
  const { cli } = session;
  const terminal = screenTerminal(cli, options);
  if (terminal === null) {
    return openLines(cli);
  }
  const { openScreenFront } = await import("../../terminal/front.ts");
  return openScreenFront({ ...session, terminal });
}

/** A folder such as `/` is allowed only if a person in a terminal names it. */
function consentOf(cli: CliContext, options: ChatOptions): Consent {
  return {
    forThisRun: options.trust === true ? { folder: folderOfPerson(cli, options) } : "none",
    named:
      options.repo !== undefined && cli.stdin.isTTY === true
        ? resolve(cli.cwd, options.repo)
        : null,
  };
}

async function folderNotes(conversation: Conversation): Promise<string[]> {
  const folder = conversation.current()?.repo_path ?? null;
  if (folder === null) {
    return [];
  }
  const missing = (await isFolder(folder)) ? "" : `, ${FOLDER_MISSING}`;
  return [`This session works in ${oneLine(folder)}${missing}.`];
}

async function exchangeNotes(
  store: Store,
  conversation: Conversation,
  oneExchange: boolean,
): Promise<string[]> {
  const session = conversation.current();
  if (session?.activity !== "interrupted") {
    return [];
  }
  const asked = await conversation.openQuestions();
  if (asked.length > 0) {
    const then = oneExchange
      ? "This message withdraws it; `reprise sessions answer` answers it."
      : "Type /continue to see it, or send a new message to withdraw it.";
    return [`The last exchange waits for the answer to a question. ${then}`];
  }
  const failure = (await store.read(readFailures, { ids: [session.id] })).get(session.id);
  const what = failure === undefined ? "was interrupted" : `failed: ${failureLine(failure)}`;
  const next = oneExchange
    ? "This message skips it; --continue-exchange would resume it."
    : "Type /continue to resume it, or send a new message to skip it.";
  return [`The last exchange ${what}. ${next}`];
}

async function limitNotes(cli: CliContext, conversation: Conversation): Promise<string[]> {
  const { repo_path } = conversation.planned();
  const { limit } = await workFolder(repo_path, trustSource(cli));
  return limit === null ? [] : [`${oneLine(repo_path ?? "")} is ${limitText(limit)}`];
}

/** Says what of the config of the folder is not used. */
async function repositoryNotes(cli: CliContext, conversation: Conversation): Promise<string[]> {
  const { repo_path } = conversation.planned();
  if (repo_path === null || !holdsAnything(repo_path)) {
    return [];
  }
  const { repositoryConfig } = await import("../../../rules/config/repository.ts");
  return (await repositoryConfig(repo_path, trustSource(cli))).problems.map(oneLine);
}

/** Asked again: another process may have ended or deleted the session meanwhile. */
async function isActive(store: Store, id: string): Promise<boolean> {
  try {
    const { state } = await store.read(readSession, { id });
    return state === "active";
  } catch (error) {
    if (!isRepriseError(error)) {
      throw error;
    }
    // a database that is away has the session all the same
    return error.code !== "session_not_found";
  }
}

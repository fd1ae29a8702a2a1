import { Command } from "commander";

import { DEFAULT_PERSONA } from "../../exchange/personas/persona.ts";
import { messageInfo, sessionSummary } from "../../core/answers.ts";
import type { ExchangeRecord, Message, Session } from "../../core/sessions.ts";
import {
  listExchanges,
  type QueuedMessage,
  readQueuedMessages,
} from "../../store/exchanges/read.ts";
import type { SessionLabels } from "../../core/labels.ts";
import { readLabelsOf } from "../../store/sessions/labels.ts";
import type { ConsentKind } from "../../core/consents.ts";
import { type Consent, readConsents } from "../../store/sessions/consents.ts";
import { failureLine } from "../../store/sessions/failures.ts";
import { listOpenQuestions, type OpenQuestion } from "../../store/questions/read.ts";
import { readTokenLimits } from "../../store/sessions/token-limits.ts";
import { listSessions } from "../../store/sessions/list.ts";
import { threadId } from "../../core/threads.ts";
import type { TokenLimits } from "../../core/token-limits.ts";
import { type Detail, readDetail } from "../../store/messages/read.ts";
import { oneLine, titleLine, visible } from "../../core/terminal-text.ts";
import { type CliContext, noticeLine, printJson, printLine, printLines } from "../context.ts";
import { changeLines } from "../change-lines.ts";
import { databaseLocation, undoFolderPath } from "../config.ts";
import type { FileChangeInfo } from "../../core/file-change-schemas.ts";
import { databaseOption, openDatabase, withStore } from "../database.ts";
import { ownSecrets } from "../own-secrets.ts";
import {
  type MessageSource,
  readUnconfirmed,
  type Unconfirmed,
} from "../../store/sessions/unconfirmed.ts";
import { questionLines } from "../question-lines.ts";
import { marksText } from "./transcript.ts";
import { SETTING_NAMES } from "../setting-names.ts";
import { type Failures, failuresOf, type Listed, shownState } from "./table.ts";
import { wholeNumber } from "../wrong-usage.ts";

interface ShowOptions {
  readonly all?: true;
  readonly beforeSeq?: number;
  readonly json?: true;
  readonly labels?: true;
}

/** `sessions show <id>`: the session and its last 200 messages; `--before-seq` reads further back. */
export function showCommand(cli: CliContext): Command {
  const command = new Command("show")
    .description("show a session and its last 200 messages")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option("--all", "include archived messages")
    .option(
      "--before-seq <n>",
      "show messages before this position",
      wholeNumber("--before-seq", 1),
    )
    .option("--json", "print the session as the HTTP API returns it")
    .option("--labels", "with --json: also name, archived_at and metadata")
    .action(async (id: string, options: ShowOptions) => {
      await using store = await openDatabase(cli, command);
      const detail = await store.read(readDetail, {
        reference: id,
        all: options.all === true,
        before_seq: options.beforeSeq,
      });
      const { id: session_id } = detail.session;
      const labels = (await store.read(readLabelsOf, { ids: [session_id] })).get(session_id);
      if (options.json === true) {
        const { session, messages, has_earlier } = detail;
        const shown = { messages: messages.map(messageInfo), has_earlier };
        printJson(cli, {
          ...sessionSummary(session),
          ...shown,
          ...(options.labels === true ? labels : {}),
        });
      } else {
        const { sessions } = await store.read(listSessions, {
          limit: CHILDREN_SHOWN,
          parent_session_id: detail.session.id,
        });
        const failures = await failuresOf(store, [detail.session, ...sessions]);
        const unconfirmed = await store.read(readUnconfirmed, {
          session_id: detail.session.id,
          from_seq: detail.messages[0]?.seq ?? 0,
          through_seq: detail.messages.at(-1)?.seq ?? 0,
        });
        const exchanges = await store.read(listExchanges, {
          reference: detail.session.id,
          limit: EXCHANGES_SHOWN,
        });
        const queued = await store.read(readQueuedMessages, {
          session_id: detail.session.id,
          limit: QUEUED_SHOWN + 1,
        });
        const limits = await store.read(readTokenLimits, detail.session);
        const questions = await store.read(listOpenQuestions, { reference: detail.session.id });
        const consents = await store.read(readConsents, { session_id, limit: CONSENTS_SHOWN });
        const { changesOfCalls } = await import("../../exchange/undo/show-changes.ts");
        const { keptBytesIn } = await import("../../exchange/undo/kept-bytes.ts");
        const location = databaseLocation(cli, databaseOption(command));
        const changes = await changesOfCalls(
          { store, kept: keptBytesIn(undoFolderPath(cli)), secrets: ownSecrets(cli, { location }) },
          {
            session_id: detail.session.id,
            call_ids: detail.messages.flatMap(({ tool_calls }) =>
              (tool_calls ?? []).map((call) => call.id),
            ),
          },
        );
        const around = {
          consents,
          changes,
          labels,
          children: sessions,
          failures,
          unconfirmed,
          exchanges,
          limits,
          questions,
        };
        showDetail(cli, detail, around);
        showQueued(cli, queued);
      }
    });
  return withStore(command);
}

function showDetail(
  cli: CliContext,
  { session, messages, has_earlier }: Detail,
  around: {
    consents: readonly Consent[];
    changes: ReadonlyMap<string, readonly FileChangeInfo[]>;
    labels: SessionLabels | undefined;
    children: readonly Session[];
    failures: Failures;
    unconfirmed: Unconfirmed;
    exchanges: readonly ExchangeRecord[];
    limits: TokenLimits;
    questions: readonly OpenQuestion[];
  },
): void {
  const { labels, children, failures, unconfirmed, exchanges, limits, questions } = around;
  const childLines = children.map((child) => childLine(child, failures));
  const settings = unconfirmed.settings.map(
    (setting) => `  unconfirmed ${SETTING_NAMES[setting]}, ${UNAUTHENTICATED}`,
  );
  printLines(cli, [
    ...heading({ ...session, ...labels }, failures),
    ...Object.entries(limits).map(([what, limit]) => `  limit     ${limit} tokens, ${what}`),
    ...settings,
    ...childLines,
    ...exchanges.map(exchangeLine),
    ...around.consents.map(consentLine),
    ...questions.flatMap((question) => {
      const [first = "", ...rest] = questionLines(question);
      return [`  question  ${question.id} ${first.trim()}`, ...rest];
    }),
  ]);
  const [first] = messages;
  if (has_earlier && first !== undefined) {
    noticeLine(cli, `Earlier messages: --before-seq ${first.seq}`);
  }
  for (const message of messages) {
    printLine(cli, "");
    printLine(cli, messageHeading(message, unconfirmed.messages.get(message.seq)));
    if (message.content !== "") {
      printLine(cli, visible(message.content));
    }
    for (const call of message.tool_calls ?? []) {
      printLine(cli, `· ${oneLine(call.name)} ${oneLine(JSON.stringify(call.args) ?? "")}`);
      printLines(cli, changeLines(around.changes.get(call.id) ?? [], { max: DIFF_LINES_SHOWN }));
    }
  }
}

/** Consents that are shown, the latest ones. */
const CONSENTS_SHOWN = 20;

const CONSENTED: Readonly<Record<ConsentKind, string>> = {
  answer: "answered question",
  mode: "set the mode",
  rule: "allowed without a question:",
  messages: "let the agent have messages of HTTP up to",
  undo: "undid exchange",
  redo: "made again exchange",
  settings: "accepted the settings that came over HTTP, up to change",
};

function consentLine({ kind, subject, who, at }: Consent): string {
  return `  consent   ${at} ${oneLine(who)} ${CONSENTED[kind]} ${oneLine(subject)}`;
}

/** Lines of a file's diff under its call; `sessions changes` shows more. */
const DIFF_LINES_SHOWN = 30;

/** Queued messages that are shown, the first ones. */
const QUEUED_SHOWN = 20;

function showQueued(cli: CliContext, queued: readonly QueuedMessage[]): void {
  for (const { n, content, queued_at } of queued.slice(0, QUEUED_SHOWN)) {
    printLine(cli, "");
    printLine(cli, `exchange ${n} user  ${queued_at ?? ""} ${marksText({ queued: true })}`);
    printLine(cli, visible(content));
  }
  if (queued.length > QUEUED_SHOWN) {
    noticeLine(cli, "More messages are queued.");
  }
}

/** Sub-agents that the heading names, the latest first. */
const CHILDREN_SHOWN = 50;

function childLine(child: Session, failures: Failures): string {
  return `  child     ${child.id} (${stateOf(child, failures)}) ${oneLine(child.persona_name ?? DEFAULT_PERSONA)}`;
}

/** Exchanges that the heading names, the latest first. */
const EXCHANGES_SHOWN = 5;

function exchangeLine(exchange: ExchangeRecord): string {
  const { n, state, first_seq, last_seq, input_tokens, output_tokens, error_code } = exchange;
  const what = [
    ...(first_seq === null
      ? []
      : [`from #${first_seq}${last_seq === null ? "" : ` to #${last_seq}`}`]),
    ...(input_tokens === null ? [] : [`${input_tokens} in, ${output_tokens ?? 0} out`]),
    ...(error_code === null ? [] : [`[${oneLine(error_code)}]`]),
  ];
  return `  exchange  ${n} ${state}${what.length === 0 ? "" : `, ${what.join(", ")}`}`;
}

function stateOf(session: Session, failures: Failures): string {
  const state = shownState(session, failures);
  return session.state === "ended" ? state : `active, ${state}`;
}

function heading(session: Listed, failures: Failures): string[] {
  const state = stateOf(session, failures);
  const failure = failures.get(session.id);
  return [
    titleLine(session),
    ...((session.name ?? null) === null
      ? []
      : [`  title     ${titleLine({ title: session.title })}`]),
    `  session   ${session.id} (${state})`,
    ...(failure === undefined ? [] : [`  failure   ${failureLine(failure)}`]),
    `  thread    ${threadId(session.id, session.thread_suffix)}`,
    ...(session.agent === null ? [] : [`  agent     ${oneLine(session.agent)}`]),
    `  persona   ${oneLine(session.persona_name ?? "-")}`,
    `  model     ${oneLine(session.model ?? "-")}`,
    `  folder    ${oneLine(session.repo_path ?? "-")}`,
    `  tokens    ${session.total_input_tokens} in, ${session.total_output_tokens} out`,
    `  messages  ${session.last_seq}`,
    ...((session.archived_at ?? null) === null ? [] : [`  archived  since ${session.archived_at}`]),
    ...Object.entries(session.metadata ?? {}).map(
      ([key, value]) => `  metadata  ${oneLine(key)}: ${oneLine(value)}`,
    ),
    ...(session.plan_mode ? ["  planning mode is on"] : []),
    ...(session.parent_session_id === null ? [] : [`  parent    ${session.parent_session_id}`]),
  ];
}

function messageHeading(message: Message, source: MessageSource | undefined): string {
  const marks = marksText({
    summary: message.is_summary,
    archived: message.archived,
    pending: source?.pending === true,
    [UNAUTHENTICATED]: source?.authenticated === false,
    accepted: source?.accepted === true,
  });
  return `#${message.seq} ${message.role}  ${message.ts}${marks === "" ? "" : ` ${marks}`}`;
}

/** Nothing else stores anything without authentication. */
const UNAUTHENTICATED = "from HTTP without authentication";

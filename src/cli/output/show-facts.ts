import { exactDollars } from "../../core/cost/money.ts";
import type { ConsentKind } from "../../core/consents.ts";
import type { Message, Session } from "../../core/sessions.ts";
import { oneLine, titleLine } from "../../core/text/terminal-text.ts";
import { threadId } from "../../core/threads.ts";
import { DEFAULT_PERSONA } from "../../rules/personas/persona.ts";
import type { Consent } from "../../store/records/sessions/consents.ts";
import { failureLine } from "../../store/records/sessions/failures.ts";
import type { MessageSource } from "../../store/records/messages/unconfirmed.ts";
import { costText, priceTexts } from "./cost-lines.ts";
import { questionLines } from "./question-lines.ts";
import { SETTING_NAMES } from "./setting-names.ts";
import { fallbackWords } from "../process/model-settings.ts";
import type { ShownExchange, ShownSession } from "./shown.ts";
import { type Failures, shownState } from "./table.ts";
import { marksText } from "../../exchange/transcript/texts.ts";

/** Line about a session. */
export interface Fact {
  /** Null for a line that continues the one before, or that has none. */
  readonly label: string | null;
  /** Cleaned. */
  readonly text: string;
}

/** Lists the facts of a session, after its title. `time` makes a time of it that is shown. */
export function factsOf(shown: ShownSession, time: (iso: string) => string): Fact[] {
  const { failures, unconfirmed, children, exchanges, consents, questions, limits } = shown;
  return [
    ...ownFacts(shown, time),
    ...Object.entries(limits.tokens).map(([what, limit]) =>
      fact("limit", `${limit} tokens, ${what}`),
    ),
    ...Object.entries(limits.prices).map(([what, limit]) =>
      fact("limit", `${exactDollars(limit)}, ${what}`),
    ),
    ...unconfirmed.settings.map((setting) =>
      fact("unconfirmed", `${SETTING_NAMES[setting]}, ${UNAUTHENTICATED}`),
    ),
    ...children.map((child) => fact("child", childText(child, failures))),
    ...exchanges.map((exchange) => fact("exchange", exchangeText(exchange))),
    ...consents.map((consent) => fact("consent", consentText(consent, time))),
    ...questions.flatMap((question) => {
      const [first = "", ...rest] = questionLines(question);
      return [
        fact("question", `${question.id} ${first.trim()}`),
        ...rest.map((line) => ({ label: null, text: line.slice(2) })),
      ];
    }),
  ];
}

function fact(label: string, text: string): Fact {
  return { label, text };
}

function ownFacts(
  { session, labels, failures, usage }: ShownSession,
  time: (iso: string) => string,
) {
  const { name = null, archived_at = null, pinned_at = null, metadata = {} } = labels ?? {};
  const failure = failures.get(session.id);
  const cost = costText(usage);
  return [
    ...(name === null ? [] : [fact("title", titleLine({ title: session.title }))]),
    fact("session", `${session.id} (${stateOf(session, failures)})`),
    ...(failure === undefined ? [] : [fact("failure", failureLine(failure))]),
    fact("thread", threadId(session.id, session.thread_suffix)),
    ...(session.agent === null ? [] : [fact("agent", oneLine(session.agent))]),
    fact("persona", oneLine(session.persona_name ?? "-")),
    fact("model", oneLine(session.model ?? "-")),
    ...(session.effort === null ? [] : [fact("effort", session.effort)]),
    ...(session.cache === null ? [] : [fact("cache", session.cache)]),
    ...(session.fallback === null
      ? []
      : [fact("fallback", oneLine(fallbackWords(session.fallback)))]),
    fact("folder", oneLine(session.repo_path ?? "-")),
    fact("tokens", `${session.total_input_tokens} in, ${session.total_output_tokens} out`),
    ...(cost === "" ? [] : [fact("cost", cost)]),
    fact("messages", String(session.last_seq)),
    ...(archived_at === null ? [] : [fact("archived", `since ${time(archived_at)}`)]),
    ...(pinned_at === null ? [] : [fact("pinned", `since ${time(pinned_at)}`)]),
    ...Object.entries(metadata).map(([key, value]) =>
      fact("metadata", `${oneLine(key)}: ${oneLine(value)}`),
    ),
    ...(session.plan_mode ? [{ label: null, text: "planning mode is on" }] : []),
    ...(session.parent_session_id === null ? [] : [fact("parent", session.parent_session_id)]),
  ];
}

function stateOf(session: Session, failures: Failures): string {
  const state = shownState(session, failures);
  return session.state === "ended" ? state : `active, ${state}`;
}

function childText(child: Session, failures: Failures): string {
  return `${child.id} (${stateOf(child, failures)}) ${oneLine(child.persona_name ?? DEFAULT_PERSONA)}`;
}

function exchangeText({ record: exchange, usage }: ShownExchange): string {
  const { n, state, first_seq, last_seq, input_tokens, output_tokens, error_code } = exchange;
  const { fallback_model } = exchange;
  const what = [
    ...(first_seq === null
      ? []
      : [`from #${first_seq}${last_seq === null ? "" : ` to #${last_seq}`}`]),
    ...(input_tokens === null ? [] : [`${input_tokens} in, ${output_tokens ?? 0} out`]),
    ...priceTexts(usage),
    ...(fallback_model === null ? [] : [`answered by ${oneLine(fallback_model)}`]),
    ...(error_code === null ? [] : [`[${oneLine(error_code)}]`]),
  ];
  return `${n} ${state}${what.length === 0 ? "" : `, ${what.join(", ")}`}`;
}

const CONSENTED: Readonly<Record<ConsentKind, string>> = {
  answer: "answered question",
  mode: "set the mode",
  rule: "allowed without a question:",
  messages: "let the agent have messages of HTTP up to",
  undo: "undid exchange",
  redo: "made again exchange",
  run: "let checks be run, of the plan and checks",
  settings: "accepted the settings that came over HTTP, up to change",
};

function consentText({ kind, subject, who, at }: Consent, time: (iso: string) => string): string {
  return `${time(at)} ${oneLine(who)} ${CONSENTED[kind]} ${oneLine(subject)}`;
}

/** Returns the marks of a message, in brackets; empty if it has none. */
export function messageMarks(message: Message, source: MessageSource | undefined): string {
  return marksText({
    summary: message.is_summary,
    archived: message.archived,
    pending: source?.pending === true,
    [UNAUTHENTICATED]: source?.authenticated === false,
    accepted: source?.accepted === true,
  });
}

/** Facts about a message whose exchange failed before it began. */
export function unsentMarks(error_code: string): string {
  return marksText({ "not sent": true, [oneLine(error_code)]: true });
}

/** How messages that were not sent are sent again. */
export function sendAgainLine(
  { state }: Pick<Session, "state">,
  { send, resume }: ShownSession["sendAgain"],
): string {
  return state === "ended"
    ? "The agent has not got the messages that were not sent."
    : `The agent has not got the messages that were not sent. Send one again: ${send}, or ${resume}, which has the last one in its prompt.`;
}

/** Nothing else stores anything without authentication. */
const UNAUTHENTICATED = "from HTTP without authentication";

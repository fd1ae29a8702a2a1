import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { MessageInfo } from "../../src/entries/client.ts";
import { CopyButton } from "../parts/CopyButton.tsx";
import { Button } from "../parts/Button.tsx";
import { memo } from "../parts/memo.tsx";
import { Time } from "../parts/Time.tsx";
import { Calls } from "./calls/Calls.tsx";
import { endsExchange } from "./exchange/ends.ts";
import { Folded } from "./Folded.tsx";
import type { SessionModel } from "./model.ts";
import { PlainText } from "./PlainText.tsx";
import { joinedAnswers, lastSeqOf, type StoredRow } from "./rows.ts";
import { Text } from "./Text.tsx";
import { ThoughtLine } from "./thought/ThoughtLine.tsx";

/** Characters of a message that are shown at first. */
const MAX_SHOWN = 60_000;

/** Characters of a message that is shown with its Markdown. */
const MAX_MARKDOWN = 200_000;

const NAMES = { user: "User", assistant: "Assistant", tool: "Tool", system: "System" } as const;

interface MessageRowProps {
  readonly model: SessionModel;
  /** Null for the answer that is being written, if there is one. */
  readonly row: StoredRow | null;
  /** Messages of the session. */
  readonly total: number;
}

/**
 * Shows one message with its calls. An answer becomes a message in the same elements: what a reader has opened, presses or has the
 * focus on stays.
 */
export const MessageRow = memo(function MessageRow({ model, row, total }: MessageRowProps) {
  const isRaw = useSignal(false);
  const answer = answerOf(model, row);
  return row === null && answer === null ? null : (
    <article {...(row === null ? WRITTEN : attributesOf(row.message, total))}>
      {row === null ? (
        <header class="message-head">
          <strong class="visually-hidden">{NAMES.assistant}</strong>
        </header>
      ) : (
        <MessageHead model={model} row={row} isRaw={isRaw} />
      )}
      {answer === null ? null : <ThoughtLine key={answer} model={model} id={answer} />}
      {row === null ? (
        <WrittenText model={model} />
      ) : (
        <MessageBody model={model} row={row} isRaw={isRaw.value} />
      )}
    </article>
  );
});

const WRITTEN = { class: "message assistant", "aria-label": "The answer that is being written" };

/** The id of the answer that a row shows; null if it shows none. */
function answerOf(model: SessionModel, row: StoredRow | null): string | null {
  if (row === null) {
    const { text = null, reasoning = null } = model.live.value ?? {};
    return text?.message_id ?? reasoning?.message_id ?? null;
  }
  return row.message.role === "assistant" ? row.message.message_id : null;
}

function attributesOf({ seq, role, is_summary, archived }: MessageInfo, total: number) {
  return {
    class: `message ${is_summary ? "summary" : role}${archived ? " archived" : ""}`,
    "data-seq": seq,
    tabIndex: -1,
    "aria-label": `${is_summary ? "Summary" : NAMES[role]}, message ${seq}`,
    "aria-posinset": seq,
    "aria-setsize": total,
  };
}

function WrittenText({ model }: Pick<MessageRowProps, "model">): JSX.Element | null {
  const text = model.live.value?.text ?? null;
  return text === null ? null : <Text key={text.message_id} text={text.text} isGrowing />;
}

interface MessageBodyProps {
  readonly model: SessionModel;
  readonly row: StoredRow;
  readonly isRaw: boolean;
}

function MessageBody({ model, row, isRaw }: MessageBodyProps): JSX.Element {
  const { message, calls } = row;
  return (
    <>
      {message.content.trim() === "" ? null : (
        <MessageText model={model} message={message} isRaw={isRaw} />
      )}
      {joinedAnswers(row).map((id) => (
        <ThoughtLine key={id} model={model} id={id} />
      ))}
      {calls.length === 0 ? null : <Calls model={model} seq={message.seq} calls={calls} />}
    </>
  );
}

interface MessageHeadProps {
  readonly model: SessionModel;
  readonly row: StoredRow;
  readonly isRaw: Signal<boolean>;
}

function MessageHead({ model, row, isRaw }: MessageHeadProps): JSX.Element {
  const { message } = row;
  const { seq, ts, content, role, is_summary, archived } = message;
  const isEmpty = content.trim() === "";
  const hasName = is_summary || role === "system" || role === "tool";
  // the foot of an exchange has these
  const isEnd = endsExchange(model, lastSeqOf(row));
  return (
    <header class="message-head">
      <strong class={hasName ? "" : "visually-hidden"}>
        {is_summary ? "Summary" : NAMES[role]}
      </strong>
      {archived ? <span class="mark">archived</span> : null}
      <span class="message-tools">
        <Time at={ts} />
        {isEmpty || !hasMarkdown(message) ? null : (
          <Button
            kind="quiet"
            aria-label="Raw text"
            aria-pressed={isRaw.value}
            onClick={() => void (isRaw.value = !isRaw.value)}
          >
            Raw
          </Button>
        )}
        {isEmpty || isEnd ? null : <CopyButton text={content} label="Copy the message" />}
        {isEnd ? null : (
          <a class="message-link" href={`#m${seq}`} aria-label={`Link to message ${seq}`}>
            #{seq}
          </a>
        )}
      </span>
    </header>
  );
}

function hasMarkdown({ role, is_summary }: MessageInfo): boolean {
  return role === "assistant" || is_summary;
}

interface MessageTextProps {
  readonly model: SessionModel;
  readonly message: MessageInfo;
  readonly isRaw: boolean;
}

function MessageText({ model, message, isRaw }: MessageTextProps): JSX.Element {
  const { seq, role, content, is_summary } = message;
  const isWhole = useSignal(false);
  const text = isWhole.value ? content : content.slice(0, MAX_SHOWN);
  const body = (
    <>
      {hasMarkdown(message) && !isRaw && text.length <= MAX_MARKDOWN ? (
        <Text text={text} />
      ) : (
        <PlainText text={text} />
      )}
      {text.length < content.length ? (
        <Button kind="quiet" onClick={() => void (isWhole.value = true)}>
          Show all {content.length.toLocaleString("en")} characters
        </Button>
      ) : null}
    </>
  );
  return is_summary || role === "system" || role === "tool" ? (
    <Folded model={model} id={`text ${seq}`} title={foldTitle(message)}>
      {body}
    </Folded>
  ) : (
    body
  );
}

function foldTitle({ role, is_summary, content }: MessageInfo): string {
  const begin = content.trimStart().slice(0, 80).replace(/\s+/gu, " ");
  return is_summary
    ? "A summary of earlier messages"
    : role === "tool"
      ? `Result of a tool: ${begin}`
      : begin;
}

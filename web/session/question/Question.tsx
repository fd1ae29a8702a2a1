import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";

import { ClientError, longerText, type QuestionInfo } from "../../../src/entries/client.ts";
import { isOwner, sending } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { Diff } from "../../parts/Diff.tsx";
import { Link } from "../../parts/Link.tsx";
import { Time } from "../../parts/Time.tsx";
import { useCall } from "../../parts/use-call.tsx";
import type { SessionModel } from "../model.ts";
import { Choices } from "./Choices.tsx";
import { type Asked, askedOf } from "./choices.ts";
import { PartEnd, useSeen } from "./use-seen.tsx";
import { visibleText } from "../act/visible-text.ts";

interface QuestionProps {
  readonly model: SessionModel;
  readonly question: QuestionInfo;
  readonly place: { readonly index: number; readonly count: number };
  /** Shows the one before (-1) or after (1). */
  readonly onMove: (by: -1 | 1) => void;
  /** After an answer that was stored from here. */
  readonly onAnswered: () => void;
}

/**
 * A question: what, with all of the change or command; for which rule; where; and the answers. An answer that allows
 * something cannot be chosen before the end of each of these texts was in view, however short it is.
 */
export function Question({
  model,
  question,
  place,
  onMove,
  onAnswered,
}: QuestionProps): JSX.Element {
  const text = useMemo(() => visibleText(question.text), [question.text]);
  const asked = useMemo(() => askedOf(text), [text]);
  const isWhole = useSignal(asked.leftOut === 0);
  const element = useRef<HTMLElement>(null);
  const seen = useSeen(element, isWhole.value);
  const note = useSignal("");
  const { problem, isBusy, run } = useCall();
  const { choices } = question;
  const answer = (reply: { choice: string } | { text: string }): void =>
    run(async () => {
      const given = note.peek().trim();
      try {
        await sending.answerQuestion(question.session_id, question.id, {
          ...reply,
          ...(given === "" ? {} : { note: given }),
        });
      } catch (error) {
        await model.refresh();
        if (!isOver(error)) {
          throw error;
        }
        // the feed takes it away, and says who answered
        return;
      }
      onAnswered();
    });
  return (
    <article class="question" ref={element} aria-labelledby={`question-${question.id}`}>
      {place.count > 1 ? <Place place={place} onMove={onMove} /> : null}
      <h2 id={`question-${question.id}`} tabIndex={-1} dir="auto">
        {asked.title}
        <PartEnd />
      </h2>
      <Body
        asked={asked}
        text={text}
        isWhole={isWhole.value}
        onWhole={() => void (isWhole.value = true)}
      />
      <Where model={model} question={question} />
      {problem}
      {isOwner.value ? (
        <>
          {choices === null ? (
            <FreeAnswer isBusy={isBusy} onAnswer={(text) => answer({ text })} />
          ) : (
            <>
              <Longer text={longerText(choices)} />
              <Choices
                choices={choices}
                isBusy={isBusy}
                seen={seen}
                isWhole={isWhole.value}
                onAnswer={(choice) => answer({ choice })}
              />
            </>
          )}
          {question.kind === "permission" || question.kind === "approval" ? (
            <label class="answer-note">
              <span>A note for the agent with the answer</span>
              <input
                value={note.value}
                dir="auto"
                maxLength={20_000}
                onInput={({ currentTarget: { value } }) => {
                  note.value = value;
                }}
              />
            </label>
          ) : null}
        </>
      ) : null}
    </article>
  );
}

function Place({ place, onMove }: Pick<QuestionProps, "place" | "onMove">): JSX.Element {
  const { index, count } = place;
  return (
    <div class="question-place">
      <Button
        kind="quiet"
        aria-label="Previous question"
        disabled={index === 1}
        onClick={() => onMove(-1)}
      >
        ‹
      </Button>
      <span class="muted">{`${index} of ${count}`}</span>
      <Button
        kind="quiet"
        aria-label="Next question"
        disabled={index === count}
        onClick={() => onMove(1)}
      >
        ›
      </Button>
    </div>
  );
}

function isOver(error: unknown): boolean {
  return (
    error instanceof ClientError &&
    (error.code === "question_answered" || error.code === "question_withdrawn")
  );
}

interface BodyProps {
  readonly asked: Asked;
  readonly text: string;
  readonly isWhole: boolean;
  readonly onWhole: () => void;
}

function Body({ asked, text, isWhole, onWhole }: BodyProps): JSX.Element | null {
  if (asked.head === "") {
    return null;
  }
  const whole = text.slice(asked.title.length + 1);
  return (
    <div class="question-body">
      <div class="question-text">
        <Part text={isWhole ? whole : asked.head} isDiff={asked.isDiff} />
        {isWhole ? <PartEnd /> : null}
      </div>
      {isWhole || asked.tail === null ? null : (
        <>
          <p>
            <Button onClick={onWhole}>
              Show the {asked.leftOut.toLocaleString("en")} lines between
            </Button>
          </p>
          <Part text={asked.tail} isDiff={false} />
        </>
      )}
    </div>
  );
}

function Part({ text, isDiff }: { readonly text: string; readonly isDiff: boolean }): JSX.Element {
  return isDiff ? (
    <Diff diff={text} isWhole />
  ) : (
    <pre tabIndex={0} dir="auto">
      {text}
    </pre>
  );
}

function Where({ model, question }: Pick<QuestionProps, "model" | "question">): JSX.Element {
  const folder = model.session.value?.repo_path ?? null;
  return (
    <p class="muted">
      Asked <Time at={question.asked_at} />
      {question.session_id === model.session.value?.id ? null : (
        <>
          {" "}
          by the{" "}
          <Link to={`/sessions/${question.session_id}`}>
            sub-agent {question.session_id.slice(0, 8)}
          </Link>
        </>
      )}
      {folder === null ? null : (
        <>
          {" "}
          in <bdi>{folder}</bdi>
        </>
      )}
      {question.answer_by === null || question.default_answer === null ? null : (
        <>
          . Without an answer it is “{defaultLabel(question)}” <Time at={question.answer_by} />
        </>
      )}
    </p>
  );
}

function defaultLabel({ choices, default_answer }: QuestionInfo): string {
  return choices?.find(({ id }) => id === default_answer)?.label ?? "";
}

/** Rules that a longer answer keeps. */
function Longer({ text }: { readonly text: string | null }): JSX.Element | null {
  return text === null ? null : (
    <p class="question-effect muted" dir="auto">
      {visibleText(text)}
      <PartEnd />
    </p>
  );
}

interface FreeAnswerProps {
  readonly isBusy: boolean;
  readonly onAnswer: (answer: string) => void;
}

function FreeAnswer({ isBusy, onAnswer }: FreeAnswerProps): JSX.Element {
  const text = useSignal("");
  return (
    <form
      class="free-answer"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(text.value);
      }}
    >
      <textarea
        dir="auto"
        rows={2}
        maxLength={20_000}
        aria-label="Your answer"
        value={text.value}
        onInput={({ currentTarget: { value } }) => {
          text.value = value;
        }}
      />
      <Button kind="primary" type="submit" disabled={isBusy || text.value.trim() === ""}>
        Answer
      </Button>
    </form>
  );
}

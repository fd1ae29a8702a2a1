import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { QuestionInfo } from "../../../src/entries/client.ts";
import { adoptStyle } from "../../adopt-style.ts";
import { client, isOwner } from "../../api.ts";
import { waitingQuestions } from "../../parts/attention.ts";
import { Button } from "../../parts/Button.tsx";
import { lazy } from "../../parts/Lazy.tsx";
import { Notice } from "../../parts/Notice.tsx";
import { plural } from "../call-text.ts";
import type { SessionModel } from "../model.ts";
import { focusComposer } from "../act/Composer.tsx";
import { style } from "./question.css";
import { MayNot } from "../act/Rights.tsx";
import { visibleText } from "../act/visible-text.ts";

const Question = lazy(async () => (await import("./Question.tsx")).Question);

adoptStyle(style);

/** What the session and its sub-agents ask now. One that is answered elsewhere goes away, and the page says who did it. */
export function Questions({ model }: { readonly model: SessionModel }): JSX.Element {
  const questions = model.live.value?.questions ?? [];
  const ended = useEnded(model, questions);
  useEffect(() => {
    waitingQuestions.value = questions.length;
    return () => {
      waitingQuestions.value = 0;
    };
  }, [questions.length]);
  return (
    <section class="questions" aria-label="Questions">
      <div aria-live="polite">
        {ended.said.value.map(({ id, sentence }) => (
          <Notice key={id}>
            <span dir="auto">{sentence}</span>
            <Button kind="quiet" onClick={() => ended.forget(id)}>
              Dismiss
            </Button>
          </Notice>
        ))}
        {questions.length > 1 ? (
          <p class="questions-count">{plural(questions.length, "question")} wait for an answer.</p>
        ) : null}
      </div>
      {questions.map((question, index) => (
        <Question
          key={question.id}
          model={model}
          question={question}
          place={{ index: index + 1, count: questions.length }}
          onMove={(by) => show(questions[index + by])}
          onAnswered={() => {
            ended.own(question.id);
            show(questions[index + 1] ?? questions.find(({ id }) => id !== question.id));
          }}
        />
      ))}
      {questions.length > 0 && !isOwner.value ? <MayNot what="answer" /> : null}
    </section>
  );
}

/** Gives a question the focus, so that keys mean it; without one, the composer has it. */
function show(question: QuestionInfo | undefined): void {
  if (question === undefined) {
    focusComposer();
  } else {
    document.getElementById(`question-${question.id}`)?.focus();
  }
}

/** What became of a question, by its id. */
interface Said {
  readonly id: string;
  readonly sentence: string;
}

/** Sentences that are kept at most. */
const MAX_SAID = 3;

/** Who answered the questions that went away. */
function useEnded(model: SessionModel, questions: readonly QuestionInfo[]) {
  const said = useSignal<readonly Said[]>([]);
  const known = useRef<readonly QuestionInfo[]>([]);
  const own = useRef(new Set<string>());
  const waiting = useRef<QuestionInfo[]>([]);
  const isAsking = useRef(false);
  /** One read for all that went away while the last one was made: an exchange that is stopped may withdraw hundreds. */
  const ask = async (): Promise<void> => {
    isAsking.current = true;
    while (waiting.current.length > 0) {
      const found = await say(model.id, waiting.current.splice(0).slice(-MAX_SAID));
      said.value = [...said.value, ...found].slice(-MAX_SAID);
    }
    isAsking.current = false;
  };
  useEffect(() => {
    const gone = known.current.filter(
      ({ id }) => !own.current.has(id) && !questions.some((question) => question.id === id),
    );
    known.current = questions;
    waiting.current.push(...gone);
    if (!isAsking.current) {
      void ask();
    }
  }, [questions]);
  return {
    said,
    own: (id: string) => void own.current.add(id),
    forget: (id: string) => {
      said.value = said.value.filter((each) => each.id !== id);
    },
  };
}

async function say(id: string, gone: readonly QuestionInfo[]): Promise<Said[]> {
  const found = await client.listQuestions(id, { answered: true }).catch(() => null);
  return gone.map((question) => {
    const [title = ""] = visibleText(question.text).split("\n", 1);
    if (found === null) {
      return { id: question.id, sentence: `The question is not open any more: ${title}` };
    }
    const answered = found.find((each) => each.id === question.id);
    const sentence =
      answered === undefined || answered.state === "withdrawn"
        ? `The question was withdrawn: ${title}`
        : `Answered by ${answererOf(answered)}, ${answered.answer ?? ""}: ${title}`;
    return { id: question.id, sentence };
  });
}

const WHERE = {
  terminal: "in a terminal",
  prompt: "as a command",
  http: "over HTTP",
  agent: "by another agent",
  timeout: "after its time",
} as const;

function answererOf({ answered_by, answered_who }: QuestionInfo): string {
  const where = answered_by === null ? "" : WHERE[answered_by];
  return answered_by === "timeout"
    ? "nobody in time"
    : `${answered_who ?? "somebody"}${where === "" ? "" : ` ${where}`}`;
}

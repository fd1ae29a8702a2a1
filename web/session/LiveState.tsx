import type { JSX } from "preact";

import { plural } from "./call-text.ts";
import { otherModelOf, queuedSentence, sentenceOf, whereOf } from "./exchange-text.ts";
import type { SessionModel } from "./model.ts";
import { Running, Until } from "./Running.tsx";

/** What happens now, as a sentence. Screen readers hear when the state changes, not each token. */
export function LiveState({ model }: { readonly model: SessionModel }): JSX.Element {
  const {
    exchange = null,
    text = null,
    reasoning = null,
    retry = null,
    usage = null,
    questions = [],
  } = model.live.value ?? {};
  const isRunning = exchange?.state === "running";
  return (
    <div class="live-state">
      <output class={exchange?.state ?? "idle"}>
        {retry !== null ? (
          <>
            Retrying ({retry.attempt} of 3) in <Until at={retry.until} />: {retry.reason}
          </>
        ) : exchange === null ? (
          sessionSentence(model)
        ) : isRunning ? (
          <>
            <span class="working" aria-hidden="true" />
            {text !== null
              ? "The agent is answering"
              : reasoning !== null
                ? "The agent is thinking"
                : "The agent is working"}
            , {`asked ${whereOf(exchange)}${otherModelOf(exchange)}`}
          </>
        ) : exchange.state === "waiting" ? (
          questions.length === 0 ? (
            "The exchange waits for an answer."
          ) : (
            `${plural(questions.length, "question")} ${questions.length === 1 ? "waits" : "wait"} for an answer.`
          )
        ) : exchange.state === "queued" ? (
          queuedSentence(exchange)
        ) : (
          (sentenceOf(exchange) ?? sessionSentence(model))
        )}
      </output>
      {isRunning && exchange.begun_at !== null ? <Running since={exchange.begun_at} /> : null}
      {isRunning && usage !== null ? (
        <span class="muted">
          {usage.input_tokens.toLocaleString("en")} tokens in,{" "}
          {usage.output_tokens.toLocaleString("en")} out
        </span>
      ) : null}
    </div>
  );
}

function sessionSentence({ last }: SessionModel): string {
  return last.value === 0 ? "There is no message yet." : "";
}

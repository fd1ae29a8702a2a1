import type { JSX } from "preact";

import { lazy } from "../../parts/Lazy.tsx";
import { memo } from "../../parts/memo.tsx";
import type { SessionModel } from "../model.ts";
import { sentenceOf } from "../exchange-text.ts";
import { endsExchange } from "./ends.ts";

const Foot = lazy(async () => (await import("./Foot.tsx")).Foot, null);

interface RowEndProps {
  readonly model: SessionModel;
  readonly seq: number;
}

/** After a message: how its exchange ended, and the foot of the exchange, if it is the last one of it. */
export const RowEnd = memo(function RowEnd({ model, seq }: RowEndProps): JSX.Element | null {
  // what was read may make it one
  void model.version.value;
  const sentence = endSentence(model, seq);
  const isEnd = endsExchange(model, seq);
  return sentence === null && !isEnd ? null : (
    <article class="exchange-foot" aria-label={`End of the exchange, message ${seq}`}>
      {sentence}
      {isEnd ? <Foot model={model} seq={seq} /> : null}
    </article>
  );
});

/** That the exchange of its last message did not end as it should, and why. */
function endSentence({ exchanges }: SessionModel, seq: number): JSX.Element | null {
  const exchange = exchanges.value?.find(({ last_seq }) => last_seq === seq);
  // the latest one is shown with what happens now
  const sentence =
    exchange === undefined || exchange.n === exchanges.value?.[0]?.n ? null : sentenceOf(exchange);
  return sentence === null ? null : <p class={`exchange-end ${exchange?.state}`}>{sentence}</p>;
}

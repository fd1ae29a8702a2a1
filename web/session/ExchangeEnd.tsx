import type { JSX } from "preact";

import type { SessionModel } from "./model.ts";
import { sentenceOf } from "./exchange-text.ts";

interface ExchangeEndProps {
  readonly model: SessionModel;
  readonly seq: number;
}

/** After the last message of an exchange: that it did not end as it should, and why. */
export function ExchangeEnd({ model, seq }: ExchangeEndProps): JSX.Element | null {
  const exchange = model.exchanges.value?.find(({ last_seq }) => last_seq === seq);
  // the latest one is shown with what happens now
  if (exchange === undefined || exchange.n === model.exchanges.value?.[0]?.n) {
    return null;
  }
  const sentence = sentenceOf(exchange);
  return sentence === null ? null : <p class={`exchange-end ${exchange.state}`}>{sentence}</p>;
}

import type { JSX } from "preact";

import type { ListedExchange } from "../../src/entries/client.ts";
import { Button } from "../parts/Button.tsx";
import { Time } from "../parts/Time.tsx";
import { tookText } from "./call-text.ts";
import { costText, durationOf, otherModelOf, sentenceOf, whereOf } from "./exchange-text.ts";
import type { SessionModel } from "./model.ts";

/** The exchanges of the session, the latest first: state, time, tokens, cost, duration. */
export function Exchanges({ model }: { readonly model: SessionModel }): JSX.Element | null {
  const exchanges = model.exchanges.value;
  if (exchanges === null || exchanges.length === 0) {
    return null;
  }
  return (
    <section>
      <h2 class="part-title">Exchanges</h2>
      <section class="exchanges" tabIndex={0} aria-label="Exchanges, the latest first">
        <table>
          <thead>
            <tr>
              <th scope="col">No.</th>
              <th scope="col">State</th>
              <th scope="col">Begun</th>
              <th scope="col">Took</th>
              <th scope="col">Tokens in</th>
              <th scope="col">Out</th>
              <th scope="col">Cost</th>
              <th scope="col">Asked</th>
            </tr>
          </thead>
          <tbody>
            {exchanges.map((exchange) => (
              <ExchangeRow key={exchange.n} exchange={exchange} />
            ))}
          </tbody>
        </table>
      </section>
      {model.hasEarlierExchanges.value ? (
        <Button kind="quiet" onClick={() => void model.readEarlierExchanges()}>
          Show earlier exchanges
        </Button>
      ) : null}
    </section>
  );
}

function ExchangeRow({ exchange }: { readonly exchange: ListedExchange }): JSX.Element {
  const { n, state, begun_at, first_seq, input_tokens, output_tokens } = exchange;
  const took = durationOf(exchange, Date.now());
  return (
    <tr>
      <td>{first_seq === null ? n : <a href={`#m${first_seq}`}>{n}</a>}</td>
      <td title={sentenceOf(exchange) ?? undefined}>
        <span class={`state ${state}`}>{state}</span>
      </td>
      <td>{begun_at === null ? "" : <Time at={begun_at} />}</td>
      <td class="number">{took === null ? "" : tookText(took)}</td>
      <td class="number">{input_tokens?.toLocaleString("en")}</td>
      <td class="number">{output_tokens?.toLocaleString("en")}</td>
      <td class="number">{costText(exchange)}</td>
      <td>
        {whereOf(exchange)}
        {otherModelOf(exchange)}
      </td>
    </tr>
  );
}

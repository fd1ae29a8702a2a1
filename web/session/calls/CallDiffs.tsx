import type { JSX } from "preact";

import type { ExchangeInfo, FileChangeInfo } from "../../../src/entries/client.ts";
import { client } from "../../api.ts";
import { Diff } from "../../parts/Diff.tsx";
import { useRead } from "../../parts/use-call.tsx";
import { visibleName } from "../act/visible-text.ts";
import type { SessionModel } from "../model.ts";

interface CallDiffsProps {
  readonly model: SessionModel;
  /** The message with the result. */
  readonly seq: number;
  /** The id of the call. */
  readonly call: string;
}

/** What the exchange of a call changed in the files that the call changed. Shows nothing to who may not read changes. */
export function CallDiffs({ model, seq, call }: CallDiffsProps): JSX.Element | null {
  const exchange = exchangeOf(seq, model.exchanges.value ?? []);
  const { value: found } = useRead<readonly FileChangeInfo[]>(
    async () => (exchange === null ? [] : await client.getChanges(model.id, exchange.n)),
    [],
    [exchange?.n],
  );
  const changes = found.filter(({ calls }) => calls.includes(call));
  return changes.length === 0 ? null : (
    <>
      <div class="part-title">Changed in exchange {exchange?.n}</div>
      {changes.map(({ path, kind, added, removed, diff }) => (
        <figure key={path} class="change">
          <figcaption>
            <code>
              <bdi>{visibleName(path)}</bdi>
            </code>{" "}
            {kind}
            {added === null || removed === null ? "" : `, +${added} −${removed}`}
          </figcaption>
          {diff === null ? (
            <p class="muted">Its content is not on the service’s machine any more.</p>
          ) : (
            <Diff diff={diff} />
          )}
        </figure>
      ))}
    </>
  );
}

/** The exchange whose messages include one; null if it was not read. */
function exchangeOf(seq: number, exchanges: readonly ExchangeInfo[]): ExchangeInfo | null {
  return (
    exchanges.find(
      ({ first_seq, last_seq }) =>
        first_seq !== null && first_seq <= seq && (last_seq === null || seq <= last_seq),
    ) ?? null
  );
}

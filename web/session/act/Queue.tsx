import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { ExchangeInfo } from "../../../src/entries/client.ts";
import { client, sending } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { localTime } from "../../parts/local-time.ts";
import { useCall, useRead } from "../../parts/use-call.tsx";
import { plural } from "../call-text.ts";
import { isAhead } from "../exchange-text.ts";
import type { SessionModel } from "../model.ts";

/** The messages that wait for their turn, the next one first. Each can be changed or withdrawn until it begins. */
export function Queue({ model }: { readonly model: SessionModel }): JSX.Element | null {
  const queued = (model.exchanges.value ?? []).filter(({ state }) => state === "queued").reverse();
  if (queued.length === 0) {
    return null;
  }
  return (
    <details class="queue" open>
      <summary>{plural(queued.length, "message")} in the queue</summary>
      <ol>
        {queued.map((exchange) => (
          <Entry key={exchange.id} model={model} exchange={exchange} />
        ))}
      </ol>
    </details>
  );
}

interface EntryProps {
  readonly model: SessionModel;
  readonly exchange: ExchangeInfo;
}

function Entry({ model, exchange: { n, revision, not_before } }: EntryProps): JSX.Element {
  /** The changed text; null while it is not being changed. */
  const changed = useSignal<string | null>(null);
  const { problem, isBusy, run } = useCall();
  /** Null for what continues without a message; undefined until it was read. */
  const { value: content, ...reading } = useRead<string | null | undefined>(
    async () => (await client.getExchange(model.id, n)).content,
    undefined,
    [n, revision],
  );
  const act = (call: () => Promise<unknown>): void =>
    run(async () => {
      try {
        await call();
        changed.value = null;
      } finally {
        // also after a refusal: it has begun, or somebody else changed it
        await model.refresh();
      }
    });
  const text = changed.value;
  const now = new Date();
  const until = isAhead(not_before, now) ? localTime(not_before, now) : null;
  return (
    <li>
      {problem ?? reading.problem}
      {text === null ? (
        <>
          <p class="queued-text" dir="auto">
            {content === undefined ? "…" : (content ?? "Continues what did not end.")}
          </p>
          <div class="row-actions">
            {until === null ? null : <span class="muted">Waits until {until}</span>}
            {content === null && until !== null ? (
              <Button
                kind="quiet"
                disabled={isBusy}
                onClick={() => act(() => sending.queueExchange(model.id, null))}
              >
                Continue now
              </Button>
            ) : null}
            {content === null || content === undefined ? null : (
              <Button kind="quiet" onClick={() => void (changed.value = content)}>
                Change
              </Button>
            )}
            <Button
              kind="quiet"
              disabled={isBusy}
              onClick={() => act(() => client.withdrawExchange(model.id, n, { revision }))}
            >
              Withdraw
            </Button>
          </div>
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            act(() => client.changeExchange(model.id, n, text, { revision }));
          }}
        >
          <textarea
            dir="auto"
            rows={3}
            value={text}
            aria-label={`Message ${n} of the queue`}
            onInput={({ currentTarget: { value } }) => {
              changed.value = value;
            }}
          />
          <div class="row-actions">
            <Button kind="primary" type="submit" disabled={isBusy || text.trim() === ""}>
              Keep the change
            </Button>
            <Button kind="quiet" onClick={() => void (changed.value = null)}>
              Cancel
            </Button>
          </div>
        </form>
      )}
    </li>
  );
}

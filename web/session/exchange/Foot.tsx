import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { FileChangeInfo, ListedExchange } from "../../../src/entries/client.ts";
import { client, isOwner, whoami } from "../../api.ts";
import { adoptStyle } from "../../adopt-style.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/CopyButton.tsx";
import { Time } from "../../parts/Time.tsx";
import { useRead } from "../../parts/use-call.tsx";
import { Undo } from "../act/later.ts";
import { plural, tookText } from "../call-text.ts";
import { costText, durationOf } from "../exchange-text.ts";
import type { SessionModel } from "../model.ts";
import { style } from "./foot.css";

adoptStyle(style);

interface EndProps {
  readonly model: SessionModel;
  /** A message of the exchange. */
  readonly seq: number;
}

/** After an exchange: when it was, what it cost, and what a person can do with it. */
export function Foot({ model, seq }: EndProps): JSX.Element | null {
  const message = model.messages.get(seq);
  const exchange = exchangeOf(model, seq);
  if (message === undefined) {
    return null;
  }
  return (
    <>
      <Time at={exchange?.ended_at ?? message.ts} />
      {exchange === null ? null : <Facts exchange={exchange} />}
      <span class="space" />
      <span class="message-tools">
        {message.role === "tool" || message.content.trim() === "" ? null : (
          <CopyButton text={message.content} label="Copy the answer" />
        )}
        {exchange === null ? null : <UndoButton model={model} exchange={exchange} />}
        {mayFork(model) ? (
          <Button
            kind="quiet"
            aria-haspopup="dialog"
            onClick={() => void (model.forking.value = seq)}
          >
            Fork from here
          </Button>
        ) : null}
      </span>
      <a class="message-link" href={`#m${seq}`} aria-label={`Link to message ${seq}`}>
        #{seq}
      </a>
    </>
  );
}

/** Time, tokens and cost of an exchange that has ended. */
function Facts({ exchange }: { readonly exchange: ListedExchange }): JSX.Element {
  const took = exchange.ended_at === null ? null : durationOf(exchange, 0);
  const tokens = (exchange.input_tokens ?? 0) + (exchange.output_tokens ?? 0);
  const inOut = `${exchange.input_tokens?.toLocaleString("en")} in, ${exchange.output_tokens?.toLocaleString("en")} out`;
  return (
    <>
      {took === null ? null : <span>{tookText(took)}</span>}
      {tokens === 0 ? null : <span title={inOut}>{plural(tokens, "token")}</span>}
      <span title="Without sub-agents">{costText(exchange)}</span>
    </>
  );
}

/** Lines that an exchange added and removed in files. */
export function ChangedLines({ model, seq }: EndProps): JSX.Element | null {
  const files = useChanges(model, exchangeOf(model, seq));
  const sum = (of: "added" | "removed"): number =>
    files.reduce((total, file) => total + (file[of] ?? 0), 0);
  return files.length === 0 ? null : (
    <span class="changed-lines">
      <span class="good">+{sum("added").toLocaleString("en")}</span>{" "}
      <span class="problem">−{sum("removed").toLocaleString("en")}</span>
    </span>
  );
}

interface UndoButtonProps {
  readonly model: SessionModel;
  readonly exchange: ListedExchange;
}

function UndoButton({ model, exchange }: UndoButtonProps): JSX.Element | null {
  const isAsking = useSignal(false);
  const files = useChanges(model, exchange);
  const left = files.filter(({ undone }) => !undone).length;
  return isOwner.value && (left > 0 || isAsking.value) ? (
    <>
      <Button kind="quiet" aria-haspopup="dialog" onClick={() => void (isAsking.value = true)}>
        Undo {plural(left, "file")} …
      </Button>
      {isAsking.value ? (
        <Undo
          model={model}
          n={exchange.n}
          step="undo"
          onClose={() => void (isAsking.value = false)}
        />
      ) : null}
    </>
  ) : null;
}

/** Returns the files that an exchange changed, for who may read them. */
function useChanges(
  model: SessionModel,
  exchange: ListedExchange | null,
): readonly FileChangeInfo[] {
  const role = whoami.value?.role;
  const mayRead = !model.isShared && (role === "owner" || role === "reader");
  const n = mayRead && exchange !== null && exchange.ended_at !== null ? exchange.n : null;
  const { value: files } = useRead<readonly FileChangeInfo[]>(
    async () => (n === null ? [] : await changesOf(model, n)),
    [],
    [n, model.undone.value],
  );
  return files;
}

/** Files that exchanges changed, since the page last undid something. */
interface Kept {
  readonly undone: number;
  readonly reads: Map<number, Promise<readonly FileChangeInfo[]>>;
}

const keptOf = new WeakMap<SessionModel, Kept>();

function changesOf(model: SessionModel, n: number): Promise<readonly FileChangeInfo[]> {
  const undone = model.undone.peek();
  const known = keptOf.get(model);
  const kept: Kept = known?.undone === undone ? known : { undone, reads: new Map() };
  keptOf.set(model, kept);
  const { reads } = kept;
  const read = reads.get(n) ?? client.getChanges(model.id, n);
  reads.set(n, read);
  read.catch(() => reads.delete(n));
  return read;
}

function exchangeOf({ exchanges }: SessionModel, seq: number): ListedExchange | null {
  const of = exchanges.value?.find(({ first_seq }) => first_seq !== null && first_seq <= seq);
  return of === undefined || (of.last_seq !== null && of.last_seq < seq) ? null : of;
}

function mayFork(model: SessionModel): boolean {
  const role = whoami.value?.role;
  return (
    !model.isShared &&
    (role === "owner" || role === "guest") &&
    model.session.value?.agent !== "plan"
  );
}

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { ExchangeChangesInfo, FileChangeInfo } from "../../../src/entries/client.ts";
import { client, isOwner, whoami } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { Diff } from "../../parts/Diff.tsx";
import { useRead } from "../../parts/use-call.tsx";
import { plural } from "../call-text.ts";
import { Folded } from "../Folded.tsx";
import type { SessionModel } from "../model.ts";
import { Undo } from "./later.ts";
import { visibleName } from "./visible-text.ts";

/** The files that exchanges changed, with their diffs; undoes an exchange, and makes it again. */
export function Changes({ model }: { readonly model: SessionModel }): JSX.Element | null {
  const ended = model.exchanges.value?.filter(({ ended_at }) => ended_at !== null).length;
  const role = whoami.value?.role;
  const mayRead = role === "owner" || role === "reader";
  const { value: changes, problem } = useRead<readonly ExchangeChangesInfo[]>(
    async () => (mayRead ? await client.listChanges(model.id) : []),
    [],
    [mayRead, ended, model.undone.value],
  );
  if (changes.length === 0) {
    return problem;
  }
  return (
    <section>
      <h3>Changed files</h3>
      {problem}
      {changes.map((exchange) => (
        <Folded
          key={exchange.n}
          model={model}
          id={`changes ${exchange.n}`}
          title={
            <>
              Exchange {exchange.n}: {plural(exchange.changes, "change")}
              {exchange.undone === 0
                ? ""
                : exchange.undone === exchange.changes
                  ? ", undone"
                  : `, ${exchange.undone} undone`}
            </>
          }
        >
          <ExchangeChanges model={model} exchange={exchange} />
        </Folded>
      ))}
    </section>
  );
}

interface ExchangeChangesProps {
  readonly model: SessionModel;
  readonly exchange: ExchangeChangesInfo;
}

function ExchangeChanges({ model, exchange }: ExchangeChangesProps): JSX.Element {
  const { n, changes, undone } = exchange;
  const step = useSignal<"undo" | "redo" | null>(null);
  const { value: files, problem } = useRead<readonly FileChangeInfo[]>(
    () => client.getChanges(model.id, n),
    [],
    [n, changes, undone],
  );
  return (
    <>
      {problem}
      {isOwner.value ? (
        <div class="row-actions">
          {undone < changes ? (
            <Button onClick={() => void (step.value = "undo")}>Undo exchange {n} …</Button>
          ) : null}
          {undone > 0 ? (
            <Button onClick={() => void (step.value = "redo")}>Make it again …</Button>
          ) : null}
        </div>
      ) : null}
      {files.map((file) => (
        <FileChange key={file.path} file={file} />
      ))}
      {step.value === null ? null : (
        <Undo model={model} n={n} step={step.value} onClose={() => void (step.value = null)} />
      )}
    </>
  );
}

function FileChange({ file }: { readonly file: FileChangeInfo }): JSX.Element {
  const { path, kind, added, removed, diff, reason, undone } = file;
  return (
    <figure class="change">
      <figcaption>
        <code>
          <bdi>{visibleName(path)}</bdi>
        </code>{" "}
        {kind}
        {added === null || removed === null ? "" : `, +${added} −${removed}`}
        {undone ? ", undone" : ""}
        {reason === null ? null : <span class="muted"> {reason}</span>}
      </figcaption>
      {diff === null ? (
        <p class="muted">Its content is not on the service’s machine any more.</p>
      ) : (
        <Diff diff={diff} />
      )}
    </figure>
  );
}

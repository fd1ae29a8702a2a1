import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import type { FileOutcome, UndoInfo } from "../../../src/entries/client.ts";
import { client } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Diff } from "../../parts/Diff.tsx";
import { useCall } from "../../parts/use-call.tsx";
import { plural } from "../call-text.ts";
import type { SessionModel } from "../model.ts";
import { visibleName } from "./visible-text.ts";

interface UndoProps {
  readonly model: SessionModel;
  readonly n: number;
  readonly step: "undo" | "redo";
  readonly onClose: () => void;
}

const WORDS = {
  undo: { title: "Undo exchange", button: "Undo", done: "undone" },
  redo: {
    title: "Make again what was undone of exchange",
    button: "Make again",
    done: "made again",
  },
} as const;

/** Shows first what undoing would do to each file, then does it, and says what became of each. */
export function Undo({ model, n, step, onClose }: UndoProps): JSX.Element {
  const found = useSignal<UndoInfo | null>(null);
  const { problem, isBusy, run } = useCall();
  const words = WORDS[step];
  const call = (dry_run: boolean): Promise<UndoInfo> =>
    step === "undo"
      ? client.undoExchange(model.id, n, { dry_run })
      : client.redoExchange(model.id, n, { dry_run });
  useEffect(() => {
    run(async () => {
      found.value = await call(true);
    });
  }, []);
  const files = found.value?.files ?? [];
  const possible = files.filter(({ outcome }) => outcome === "restored").length;
  const isDone = found.value?.dry_run === false;
  return (
    <Dialog title={`${words.title} ${n}`} onClose={onClose}>
      {problem}
      <div aria-live="polite">
        {found.value === null ? (
          isBusy ? (
            <p class="muted">Comparing the files …</p>
          ) : null
        ) : (
          <p>{sentenceOf(found.value, words.done)}</p>
        )}
      </div>
      {files.map((file) => (
        <Outcome key={file.path} file={file} />
      ))}
      <div class="actions">
        <Button onClick={onClose}>{isDone ? "Close" : "Cancel"}</Button>
        {isDone ? null : (
          <Button
            kind="danger"
            disabled={isBusy || possible === 0}
            onClick={() =>
              run(async () => {
                try {
                  found.value = await call(false);
                } finally {
                  // a lost answer may be one of what was done
                  model.undone.value += 1;
                  await model.refresh();
                }
              })
            }
          >
            {words.button} {plural(possible, "file")}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function sentenceOf({ files, dry_run }: UndoInfo, done: string): string {
  const count = (outcome: FileOutcome["outcome"]): number =>
    files.filter((file) => file.outcome === outcome).length;
  const refused = count("refused");
  const rest =
    refused === 0 ? "" : ` ${plural(refused, "file")} ${dry_run ? "would be" : "was"} refused.`;
  return dry_run
    ? `${plural(count("restored"), "file")} can be ${done}.${rest}`
    : `${plural(count("restored"), "file")} ${count("restored") === 1 ? "was" : "were"} ${done}.${rest}`;
}

const OUTCOMES = { restored: "", unchanged: "not changed", refused: "refused" } as const;

/** Outcome of a file, with the diff of what that changes. */
export function Outcome({ file }: { readonly file: FileOutcome }): JSX.Element {
  const { path, outcome, reason, diff } = file;
  return (
    <figure class="change">
      <figcaption>
        <code>
          <bdi>{visibleName(path)}</bdi>
        </code>{" "}
        <span class={outcome === "refused" ? "problem" : "muted"}>
          {OUTCOMES[outcome]}
          {reason === null ? "" : `: ${reason}`}
        </span>
      </figcaption>
      {diff === null ? null : <Diff diff={diff} />}
    </figure>
  );
}

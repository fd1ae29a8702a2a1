import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";

import { isOwner, sending } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Link } from "../../parts/Link.tsx";
import { useCall, useRead } from "../../parts/use-call.tsx";
import { go } from "../../route.ts";
import { newId } from "../../streams/new-id.ts";
import { Outcome } from "../act/Undo.tsx";
import { visibleName } from "../act/visible-text.ts";
import { plural } from "../call-text.ts";
import type { SessionModel } from "../model.ts";
import { changedAfter, laterOf, restoredIn, undoAll, type Undoing } from "./rewind.ts";

interface ForkProps {
  readonly model: SessionModel;
  /** The last message that the fork has. */
  readonly seq: number;
  readonly onClose: () => void;
}

/** Outcome: the files that were undone, and the fork, if there is one. */
interface Done {
  readonly files: readonly Undoing[];
  readonly fork: string | null;
}

/** Asks once: makes a session that continues from a message, undoes the files that were changed after it, or both. */
export function Fork({ model, seq, onClose }: ForkProps): JSX.Element {
  // a fork whose answer was lost is not made twice
  const key = useMemo(newId, []);
  const [wantsFork, wantsUndo] = [useSignal(true), useSignal(false)];
  const done = useSignal<Done | null>(null);
  const { problem, isBusy, run } = useCall();
  const { value: later, problem: unread } = useRead<readonly Undoing[] | null>(
    () => (isOwner.peek() ? preview(model, seq) : Promise.resolve([])),
    null,
    [model, seq],
  );
  const possible = restoredIn(later ?? []);
  const undoes = wantsUndo.value && possible > 0;
  const act = async (): Promise<void> => {
    const files: Undoing[] = [];
    const show = (fork: string | null): void => void (done.value = { files: [...files], fork });
    if (undoes) {
      try {
        await undoAll(
          model,
          (later ?? []).map(({ n }) => n),
          {
            dry_run: false,
            onUndone: (undoing) => void files.push(undoing),
          },
        );
      } finally {
        model.undone.value += 1;
        await model.refresh();
      }
    }
    if (!wantsFork.value) {
      show(null);
      return;
    }
    const options = { at_seq: seq, idempotencyKey: key };
    const { id } = await sending.forkSession(model.id, options).catch((error: unknown) => {
      if (files.length > 0) {
        show(null);
      }
      throw error;
    });
    if (files.some((undoing) => undoing.files.some(({ outcome }) => outcome === "refused"))) {
      show(id);
    } else {
      onClose();
      go(`/sessions/${id}`);
    }
  };
  return (
    <Dialog title={`Fork from message ${seq}`} onClose={onClose}>
      {problem}
      {done.value === null ? (
        <>
          <p>
            The fork is another session, with the messages up to this one. This session keeps all of
            its messages.
          </p>
          {unread}
          <Later
            later={later}
            isRead={unread !== null}
            wantsFork={wantsFork}
            wantsUndo={wantsUndo}
          />
        </>
      ) : (
        <Result done={done.value} />
      )}
      <div class="actions">
        <Button onClick={onClose}>{done.value === null ? "Cancel" : "Close"}</Button>
        {done.value === null ? (
          <Button
            kind={undoes ? "danger" : "primary"}
            disabled={isBusy || (!undoes && !wantsFork.value)}
            onClick={() => run(act)}
          >
            {undoes
              ? `Undo ${plural(possible, "file")}${wantsFork.value ? " and fork" : ""}`
              : "Fork"}
          </Button>
        ) : done.value.fork === null ? null : (
          <Link class="button primary" to={`/sessions/${done.value.fork}`}>
            Open the fork
          </Link>
        )}
      </div>
    </Dialog>
  );
}

async function preview(model: SessionModel, seq: number): Promise<readonly Undoing[]> {
  const found: Undoing[] = [];
  const onUndone = (undoing: Undoing): void => void found.push(undoing);
  await undoAll(model, await changedAfter(model, seq), { dry_run: true, onUndone });
  return found;
}

interface LaterProps {
  /** Null until it is known. */
  readonly later: readonly Undoing[] | null;
  readonly isRead: boolean;
  readonly wantsFork: Signal<boolean>;
  readonly wantsUndo: Signal<boolean>;
}

/** The files that were changed after the message, and what is to be done. */
function Later({ later, isRead, wantsFork, wantsUndo }: LaterProps): JSX.Element | null {
  if (later === null) {
    return isRead ? null : <p class="muted">Comparing the files …</p>;
  }
  if (later.length === 0) {
    return null;
  }
  const possible = restoredIn(later);
  return (
    <>
      <Check value={wantsFork}>Make a fork</Check>
      <Check value={wantsUndo} disabled={possible === 0}>
        Undo what was changed after this message: {plural(possible, "file")}
      </Check>
      <Files all={later} />
    </>
  );
}

function Check(props: {
  readonly value: Signal<boolean>;
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { value, disabled = false, children } = props;
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={value.value}
        disabled={disabled}
        onChange={({ currentTarget: { checked } }) => void (value.value = checked)}
      />
      <span>{children}</span>
    </label>
  );
}

function Result({ done: { files, fork } }: { readonly done: Done }): JSX.Element {
  const count = restoredIn(files);
  return (
    <>
      <p aria-live="polite">
        {plural(count, "file")} {count === 1 ? "was" : "were"} undone.
        {fork === null ? "" : " The fork was made."}
      </p>
      <Files all={files} />
    </>
  );
}

function Files({ all }: { readonly all: readonly Undoing[] }): JSX.Element {
  return (
    <>
      {all.map(({ n, files }) => (
        <section key={n}>
          <h3 class="part-title">Exchange {n}</h3>
          {files.map((file) => {
            const later = file.outcome === "refused" ? laterOf(all, { n, path: file.path }) : null;
            return later === null ? (
              <Outcome key={file.path} file={file} />
            ) : (
              <p key={file.path}>
                <code>
                  <bdi>{visibleName(file.path)}</bdi>
                </code>{" "}
                <span class="muted">can be compared once exchange {later} is undone</span>
              </p>
            );
          })}
        </section>
      ))}
    </>
  );
}

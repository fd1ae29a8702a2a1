import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { SessionSummary } from "../../src/entries/client.ts";
import { client, isOwner, whoami } from "../api.ts";
import { Button } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Link } from "../parts/Link.tsx";
import { useCall } from "../parts/use-call.tsx";
import { Deletion } from "./Deletion.tsx";
import { isPinned } from "./rows.ts";
import type { ListSource } from "./source.ts";
import { titleOf } from "./state-text.ts";

interface ActionsProps {
  readonly session: SessionSummary;
  readonly source: ListSource;
  readonly onClose: () => void;
}

/** Actions on a session in the list: rename, pin, archive, delete. */
export function SessionActions(props: ActionsProps): JSX.Element {
  const step = useSignal<"choose" | "delete">("choose");
  const title = titleOf(props.session);
  return step.value === "delete" ? (
    <Dialog key="delete" title={`Delete “${title}”?`} onClose={props.onClose}>
      <Deletion
        session={props.session}
        onClose={props.onClose}
        onDeleted={(ids) => {
          props.source.remove(ids);
          props.onClose();
          // the row that had the focus is gone
          requestAnimationFrame(() =>
            document.querySelector<HTMLElement>(".session-rows .row-title[tabindex='0']")?.focus(),
          );
        }}
      />
    </Dialog>
  ) : (
    <Dialog key="choose" title={title} onClose={props.onClose}>
      {isOwner.value ? (
        <Choices
          {...props}
          onDelete={() => {
            step.value = "delete";
          }}
        />
      ) : (
        <p>
          {whoami.value?.role === "reader"
            ? "This login only reads: it cannot rename, pin, archive or delete sessions."
            : "To rename, pin, archive and delete sessions, log in with the token."}{" "}
          <Link to="/login">Log in</Link>
        </p>
      )}
    </Dialog>
  );
}

function Choices(props: ActionsProps & { readonly onDelete: () => void }): JSX.Element {
  const { session, source, onClose } = props;
  const name = useSignal(session.name ?? "");
  const { problem, isBusy, run } = useCall(onClose);
  const isArchived = typeof session.archived_at === "string";
  const change = (to: Parameters<typeof client.patchSession>[1]): void =>
    run(async () => {
      const { name, archived_at, pinned_at } = await client.patchSession(session.id, to);
      source.put({ ...session, name, archived_at, pinned_at });
    });
  return (
    <>
      {problem}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const text = name.value.trim();
          change({ name: text === "" ? null : text });
        }}
      >
        <label class="field">
          <span>Name</span>
          <input
            value={name.value}
            maxLength={255}
            dir="auto"
            placeholder={session.title ?? ""}
            onInput={({ currentTarget: { value } }) => {
              name.value = value;
            }}
          />
        </label>
        <p class="muted">Without a name, the list shows the beginning of the first message.</p>
        <div class="actions">
          <Button kind="danger" disabled={isBusy} onClick={props.onDelete}>
            Delete …
          </Button>
          <Button disabled={isBusy} onClick={() => change({ pinned: !isPinned(session) })}>
            {isPinned(session) ? "Unpin" : "Pin"}
          </Button>
          <Button disabled={isBusy} onClick={() => change({ archived: !isArchived })}>
            {isArchived ? "Take out of the archive" : "Archive"}
          </Button>
          <Button kind="primary" type="submit" disabled={isBusy}>
            Rename
          </Button>
        </div>
      </form>
    </>
  );
}

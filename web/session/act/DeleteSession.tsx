import type { JSX } from "preact";

import type { SessionSummary } from "../../../src/entries/client.ts";
import { Deletion } from "../../list/Deletion.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { go } from "../../route.ts";

interface DeleteSessionProps {
  readonly session: SessionSummary;
  readonly onClose: () => void;
}

/** Deletes the session after a yes to what goes with it, then shows the others. */
export function DeleteSession({ session, onClose }: DeleteSessionProps): JSX.Element {
  return (
    <Dialog title="Delete this session?" onClose={onClose}>
      <Deletion session={session} onClose={onClose} onDeleted={() => go("/")} />
    </Dialog>
  );
}

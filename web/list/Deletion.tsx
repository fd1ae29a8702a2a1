import type { JSX } from "preact";

import { ClientError, type SessionSummary } from "../../src/entries/client.ts";
import { client } from "../api.ts";
import { Button } from "../parts/Button.tsx";
import { useCall, useRead } from "../parts/use-call.tsx";
import { countTree, goneWith, type TreeCount } from "./count-tree.ts";

interface DeletionProps {
  readonly session: SessionSummary;
  readonly onClose: () => void;
  /** Gets the ids of what was deleted. */
  readonly onDeleted: (ids: readonly string[]) => void;
}

/** In a dialog: says what goes with a session, and deletes it after a yes. */
export function Deletion({ session, onClose, onDeleted }: DeletionProps): JSX.Element {
  const { problem, isBusy, run } = useCall();
  const { value: counted, ...counting } = useRead<TreeCount | null>(
    () => countTree(client, session),
    null,
    [session.id],
  );
  return (
    <>
      {problem ?? counting.problem}
      <p>
        {counted === null ? "Counting what goes with it …" : goneWith(counted)} This cannot be
        undone. Files in its folder are not changed.
      </p>
      <div class="actions">
        <Button onClick={onClose}>Keep it</Button>
        <Button
          kind="danger"
          disabled={isBusy || counted === null}
          onClick={() =>
            run(async () => {
              const deleted = await client.deleteSession(session.id).catch(deletedBefore);
              onDeleted([session.id, ...deleted.map(({ id }) => id)]);
            })
          }
        >
          Delete
        </Button>
      </div>
    </>
  );
}

/** The answer to the first attempt was lost, or somebody else was faster: that is what was wanted. */
function deletedBefore(error: unknown): [] {
  if (error instanceof ClientError && error.code === "session_not_found") {
    return [];
  }
  throw error;
}

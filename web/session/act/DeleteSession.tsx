import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import type { SessionSummary } from "../../../src/entries/client.ts";
import { client } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { useCall } from "../../parts/use-call.tsx";
import { countTree, goneWith, type TreeCount } from "../../list/count-tree.ts";
import { go } from "../../route.ts";

interface DeleteSessionProps {
  readonly session: SessionSummary;
  readonly onClose: () => void;
}

/** Deletes the session after a yes to what goes with it, then shows the others. */
export function DeleteSession({ session, onClose }: DeleteSessionProps): JSX.Element {
  const counted = useSignal<TreeCount | null>(null);
  const { problem, isBusy, run, fail } = useCall(() => go("/"));
  useEffect(() => {
    countTree(client, session).then((count) => {
      counted.value = count;
    }, fail);
  }, []);
  return (
    <Dialog title="Delete this session?" onClose={onClose}>
      {problem}
      <p>
        {counted.value === null ? "Counting what goes with it …" : goneWith(counted.value)} This
        cannot be undone. Files in its folder stay as they are.
      </p>
      <div class="actions">
        <Button onClick={onClose}>Keep it</Button>
        <Button
          kind="danger"
          disabled={isBusy || counted.value === null}
          onClick={() => run(async () => void (await client.deleteSession(session.id)))}
        >
          Delete
        </Button>
      </div>
    </Dialog>
  );
}

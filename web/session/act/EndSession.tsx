import type { JSX } from "preact";

import type { SessionSummary } from "../../../src/entries/client.ts";
import { client } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { useCall } from "../../parts/use-call.tsx";
import type { SessionModel } from "../model.ts";

interface EndSessionProps {
  readonly model: SessionModel;
  readonly session: SessionSummary;
  readonly onClose: () => void;
}

/** Ends a session after a yes. */
export function EndSession({ model, session, onClose }: EndSessionProps): JSX.Element {
  const { problem, isBusy, run } = useCall(onClose);
  return (
    <Dialog title="End this session?" onClose={onClose}>
      {problem}
      <p>
        It stays readable and takes no further messages. Messages in its queue are withdrawn. An
        ended session does not begin again.
      </p>
      <div class="actions">
        <Button onClick={onClose}>Leave it open</Button>
        <Button
          kind="danger"
          disabled={isBusy}
          onClick={() =>
            run(async () => {
              await client.endSession(session.id);
              await model.refresh();
            })
          }
        >
          End the session
        </Button>
      </div>
    </Dialog>
  );
}

import type { JSX } from "preact";

import { client } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { useRead } from "../../parts/use-call.tsx";
import type { SessionModel } from "../model.ts";

interface UnsentProps {
  readonly model: SessionModel;
  /** The exchange. */
  readonly n: number;
  /** Gets the text that is to be written again. */
  readonly onEdit: (text: string) => void;
}

/** The message of an exchange that failed before it began: no agent has got it. */
export function Unsent({ model, n, onEdit }: UnsentProps): JSX.Element | null {
  const { value: content, problem } = useRead<string | null>(
    async () => (await client.getExchange(model.id, n)).content,
    null,
    [n],
  );
  if (content === null) {
    return problem ?? null;
  }
  return (
    <div class="queue">
      <p class="queued-text" dir="auto">
        {content}
      </p>
      <div class="row-actions">
        <Button onClick={() => onEdit(content)}>Edit and send again</Button>
      </div>
    </div>
  );
}

import type { JSX } from "preact";

import { lazy } from "../../parts/Lazy.tsx";
import type { SessionModel } from "../model.ts";
import type { StoredCall } from "../rows.ts";

const LastLines = lazy(async () => (await import("./LastLines.tsx")).LastLines, null);

/** Lines of a command that failed: its reason is most often there. */
const FAILED_LINES = 3;

interface PrintedProps {
  readonly model: SessionModel;
  readonly call: string;
}

/** Shows what a call prints while it runs, and until something follows its result: nothing jumps at its end. */
export function Printed({ model, call }: PrintedProps): JSX.Element | null {
  const output = model.live.value?.outputs.find(({ call_id }) => call_id === call);
  return output === undefined ? null : <LastLines text={output.text} />;
}

interface EndingProps {
  readonly model: SessionModel;
  readonly stored: StoredCall;
  /** Id of the row that a person opens to see all of it. */
  readonly id: string;
}

/** Shows what a call prints, and of a command that failed the last lines while its row is closed. */
export function Ending({ model, stored, id }: EndingProps): JSX.Element | null {
  const { call, result } = stored;
  const isPrinting = model.live.value?.outputs.some(({ call_id }) => call_id === call.id) === true;
  if (isPrinting) {
    return <Printed model={model} call={call.id} />;
  }
  return call.effect !== "runs" ||
    result?.status !== "failed" ||
    model.opened.value.has(id) ? null : (
    <LastLines text={result.content.trimEnd()} count={FAILED_LINES} />
  );
}

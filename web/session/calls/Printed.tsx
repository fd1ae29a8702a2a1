import type { JSX } from "preact";

import { lazy } from "../../parts/Lazy.tsx";
import type { SessionModel } from "../model.ts";

const LastLines = lazy(async () => (await import("./LastLines.tsx")).LastLines, null);

interface PrintedProps {
  readonly model: SessionModel;
  readonly call: string;
}

/** Shows what a call prints while it runs, and until something follows its result: nothing jumps at its end. */
export function Printed({ model, call }: PrintedProps): JSX.Element | null {
  const output = model.live.value?.outputs.find(({ call_id }) => call_id === call);
  return output === undefined ? null : <LastLines text={output.text} />;
}

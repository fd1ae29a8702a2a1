import type { JSX } from "preact";

import { Icon, type IconName } from "../../parts/icons.tsx";
import type { ToolCall } from "../call-text.ts";

const ICONS = { reads: "reads", changes: "rename", runs: "runs", asks: "asks" } as const;

/** The kind of a call as a picture: the verb after it says the same, and how the call ended. */
export function CallMark({ effect }: Pick<ToolCall, "effect">): JSX.Element {
  const name: IconName = effect === null ? "more" : ICONS[effect];
  return (
    <span class="call-mark">
      <Icon name={name} />
    </span>
  );
}

import type { JSX } from "preact";

import type { MessageInfo } from "../../../src/entries/client.ts";
import { whoami } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import type { SessionModel } from "../model.ts";

interface ForkButtonProps {
  readonly model: SessionModel;
  readonly message: MessageInfo;
  /** The last message that its row shows. */
  readonly last: number;
}

/** At the end of an exchange, for who may write: makes a session that continues from there. */
export function ForkButton({ model, message, last }: ForkButtonProps): JSX.Element | null {
  const role = whoami.value?.role;
  const mayWrite = !model.isShared && (role === "owner" || role === "guest");
  if (
    !mayWrite ||
    model.session.value?.agent === "plan" ||
    !endsExchange(model, { ...message, last })
  ) {
    return null;
  }
  return (
    <Button kind="quiet" aria-haspopup="dialog" onClick={() => void (model.forking.value = last)}>
      Fork from here
    </Button>
  );
}

/** True if the next message is a person's, or there is none and nothing runs. */
function endsExchange(
  model: SessionModel,
  { role, is_summary, last }: MessageInfo & { readonly last: number },
): boolean {
  if (is_summary || (role !== "assistant" && role !== "tool")) {
    return false;
  }
  if (last < model.last.value) {
    return model.messages.get(last + 1)?.role === "user";
  }
  const state = model.live.value?.exchange?.state;
  return state !== "running" && state !== "waiting";
}

import type { SessionModel } from "../model.ts";

/** True for the last message of an exchange that has ended: the next one is a person's, or there is none and nothing runs. */
export function endsExchange(model: SessionModel, seq: number): boolean {
  const message = model.messages.get(seq);
  if (
    message === undefined ||
    message.is_summary ||
    (message.role !== "assistant" && message.role !== "tool")
  ) {
    return false;
  }
  return seq < model.last.value ? model.messages.get(seq + 1)?.role === "user" : !isBusy(model);
}

/** True while an exchange runs or waits for an answer. */
export function isBusy({ live, session }: Pick<SessionModel, "live" | "session">): boolean {
  const state = live.value?.exchange?.state ?? session.value?.exchange?.state;
  return state === "running" || state === "waiting";
}

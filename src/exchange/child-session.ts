import { AGENT } from "../core/principal.ts";
import type { Fallback } from "../core/model-settings.ts";
import type { Session } from "../core/sessions.ts";
import type { Fence } from "../store/records/leases/fence.ts";
import { listExchanges } from "../store/records/exchanges/read.ts";
import { readDetail } from "../store/records/messages/read.ts";
import { onlyWaits } from "../store/records/questions/continue.ts";
import { openChild } from "../store/records/sessions/open-child.ts";
import type { Store } from "../store/store.ts";
import type { Exchanger, ExchangeRequest, Live } from "./exchanger.ts";
import { ownFallback, ownModel } from "../rules/models/choose.ts";
import type { PersonaFolders } from "../rules/personas/folders.ts";
import { loadPersona } from "../rules/personas/load.ts";
import type { Report } from "./report-events.ts";

export interface ChildSessionInput {
  readonly store: Store;
  readonly personas: PersonaFolders;
  /** The lease of the parent's exchange: a parent that lost it begins no sub-agent. */
  readonly fence: Fence;
  readonly parent: Session;
  /** The number of the parent's exchange. */
  readonly parent_n: number | null;
  /** The tool call whose result the child's answer is. One that runs again finds its child. */
  readonly callId: string;
  readonly persona: string;
  readonly task: string;
  /** Answers if the persona chooses no model. */
  readonly model: string;
  /** Models in its place, if the persona chooses none. */
  readonly fallback: Fallback;
  readonly exchanger: Exchanger;
  /** The parent's. It receives the child's tool events, not its text. */
  readonly live: Live;
  readonly report: Report;
}

/** How a sub-agent's exchange ended. */
export type ChildEnd =
  | { readonly state: "done"; readonly answer: string }
  | { readonly state: "stopped" | "waiting" };

/**
 * Starts the sub-agent of a tool call, or continues it from where the program was stopped, and
 * returns its last answer.
 *
 * Error codes: as `loadPersona` and `Exchanger.exchange`.
 */
export async function runChildSession(input: ChildSessionInput): Promise<ChildEnd> {
  const { store, personas, parent } = input;
  const persona = await loadPersona({
    name: input.persona,
    repoPath: parent.repo_path,
    ...personas,
  });
  const child = await store.write(openChild, {
    fence: input.fence,
    parent_call_id: input.callId,
    persona_name: persona.name,
    model: ownModel(persona) ?? input.model,
    fallback: ownFallback(persona) ?? input.fallback,
  });
  input.report({
    type: "child",
    call_id: input.callId,
    child_session_id: child.id,
    persona_name: persona.name,
  });
  if (child.last_seq > 0 && child.activity === "idle") {
    // the child had ended, but the parent stopped before it received the answer
    const [last] = await store.read(listExchanges, { reference: child.id, limit: 1 });
    return last?.state === "stopped"
      ? { state: "stopped" }
      : { state: "done", answer: await lastAnswer(store, child.id) };
  }
  if (child.last_seq > 0 && (await store.read(onlyWaits, child))) {
    // the answer that continues the parent's exchange was for another one
    return { state: "waiting" };
  }
  return runChildExchange(input, { id: child.id, text: child.last_seq === 0 ? input.task : null });
}

/**
 * Sends a message to the sub-agent of a call, or with null continues its exchange.
 *
 * Error codes: as `Exchanger.exchange`.
 */
export function runChildExchange(
  input: Pick<ChildSessionInput, "exchanger" | "fence" | "live" | "parent_n">,
  { id, text }: { readonly id: string; readonly text: string | null },
): Promise<ChildEnd> {
  const { live } = input;
  const request: ExchangeRequest = {
    session_id: id,
    text,
    // its holder was this call's earlier process
    when_busy: "take_over",
    keep_partial: false,
    principal: AGENT,
    parent_n: input.parent_n,
    parent_fence: input.fence,
  };
  return input.exchanger.exchange(request, {
    ...live,
    listener: (event) => {
      if (SHOWN_OF_CHILDREN.has(event.type)) {
        live.listener(event);
      }
    },
  });
}

const SHOWN_OF_CHILDREN: ReadonlySet<string> = new Set([
  "child",
  "child_waiting",
  "tool_call",
  "tool_result",
  "retry",
]);

/** Reads the last answer in a session; empty without one. */
export async function lastAnswer(store: Store, session_id: string): Promise<string> {
  const { messages } = await store.read(readDetail, { reference: session_id, all: true });
  const shown = messages.filter(({ is_summary }) => !is_summary);
  const last = shown.findLastIndex(({ role }) => role === "assistant");
  // an answer that was cut off is several messages
  const before = shown
    .slice(0, last)
    .findLastIndex(({ role, tool_calls }) => role !== "assistant" || tool_calls !== null);
  return shown
    .slice(before + 1, last + 1)
    .map(({ content }) => content)
    .join("");
}

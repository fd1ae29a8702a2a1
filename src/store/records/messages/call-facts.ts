import {
  type CallFacts,
  type CallStatus,
  factsIn,
  isCallStatus,
  NO_FACTS,
} from "../../../core/calls.ts";
import type { MessageJson } from "./message-json.ts";

/** In an answer's `response_metadata`: the facts of its calls, in their order. */
export const CALL_FACTS = "reprise_calls";

/** In the `response_metadata` of a tool's result: how its call ended. */
export const CALL_STATUS = "reprise_status";

/** In an answer's `response_metadata`: who can read its blocks and its reasoning again. */
export const MAKER = "reprise_maker";

/** In the `response_metadata` of a result that no tool has given. */
export const STAND_IN = "reprise_stand_in";

type Marked = Pick<MessageJson, "response_metadata">;

/** The facts of each of so many calls. An answer that others made has none, and an import may have any value. */
export function callFactsOf(message: Marked, count: number): readonly CallFacts[] {
  const kept = memberOf(message, CALL_FACTS);
  const facts: readonly unknown[] = Array.isArray(kept) && kept.length === count ? kept : [];
  return Array.from({ length: count }, (_, at) =>
    facts.length === 0 ? NO_FACTS : factsIn(facts[at]),
  );
}

/** How the call of a result ended, as the agent of Reprise has kept it; null for a result of others. */
export function keptStatusOf(result: Marked): CallStatus | null {
  const kept = memberOf(result, CALL_STATUS);
  return isCallStatus(kept) ? kept : null;
}

/**
 * Returns the status of a call, or what LangChain has of it: a graph of others keeps no more. Null if that is not
 * recorded either.
 */
export function statusOf(result: Marked & Pick<MessageJson, "status">): CallStatus | null {
  const { status } = result;
  return (
    keptStatusOf(result) ?? (status === "error" ? "failed" : status === "success" ? "ok" : null)
  );
}

function memberOf({ response_metadata }: Marked, name: string): unknown {
  return typeof response_metadata === "object" && response_metadata !== null
    ? Reflect.get(response_metadata, name)
    : undefined;
}

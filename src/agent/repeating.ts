import { createHash } from "node:crypto";

import {
  type DefaultAnswer,
  isHarmlessChoice,
  type RepeatChoice,
  type Repeats,
} from "../core/questions.ts";
import type { MadeCall } from "../core/sessions.ts";
import { repeatChoices, repeatText } from "../core/words.ts";
import type { RepeatedCall } from "../exchange/exchanger.ts";
import type { Conceal } from "../exchange/secrets.ts";
import type { Fence } from "../store/leases/fence.ts";
import { askUnderLease, shownHash } from "../store/questions/ask.ts";
import { readAsked } from "../store/questions/read.ts";
import type { Store } from "../store/store.ts";
import { cleaned, isShown, newQuestion } from "./tool-asking.ts";

export interface RepeatAsking {
  readonly store: Pick<Store, "read" | "write">;
  readonly fence: Fence;
  readonly thread_suffix: number;
  readonly repeats: Repeats;
  readonly default: DefaultAnswer | undefined;
  /** Applied to what is asked. */
  readonly conceal: Conceal;
}

/** Calls that may have taken effect and would run again. */
export interface Suspects {
  readonly calls: readonly RepeatedCall[];
  /** How often tools have begun since the checkpoint: after one more time, a yes does not count any more. */
  readonly starts: number;
}

const AGAIN: RepeatChoice = "again";

/**
 * Whether these calls may run again. `open` if a person has to say it first: the question is stored then, under the
 * lease, and no call runs. A yes counts for these calls as they had begun by then, and not if an import brought it.
 *
 * Error codes: `lease_lost`, `session_ended`, `database_*`.
 */
export async function mayRepeat(
  asking: RepeatAsking,
  { calls, starts }: Suspects,
): Promise<"yes" | "no" | "open"> {
  if (asking.repeats !== "ask") {
    return asking.repeats === "always" ? "yes" : "no";
  }
  const { store, fence, thread_suffix, conceal } = asking;
  const { session_id } = fence;
  const shown = cleaned(
    {
      kind: "repeat",
      text: repeatText(calls.map((call) => [call.name, call.subject ?? JSON.stringify(call.args)])),
      choices: repeatChoices(),
      permission: null,
    },
    conceal,
  );
  const shown_hash = shownHash(shown);
  const call_id = repeatCallId(calls, starts);
  const asked = await store.read(readAsked, { session_id, thread_suffix, call_id });
  const known = asked.find(
    (question) =>
      question.state !== "withdrawn" &&
      question.shown_hash === shown_hash &&
      isShown(question, shown) &&
      (question.state === "open" || question.answered_here === 1),
  );
  if (known?.state === "answered") {
    return known.answer === AGAIN ? "yes" : "no";
  }
  if (known === undefined) {
    const number = (asked.at(-1)?.number ?? 0) + 1;
    const later = isHarmlessChoice(asking.default?.choice ?? "") ? asking.default : undefined;
    const question = newQuestion({ ...shown, call_id, number, shown_hash }, later);
    await store.write(askUnderLease, { fence, thread_suffix, question });
  }
  return "open";
}

/** What the question has as the id of its call. No call of a tool can have it: those have no colon. */
function repeatCallId(calls: readonly MadeCall[], starts: number): string {
  const named = calls.map(({ id, name, args }) => [id, name, args]);
  const hash = createHash("sha256").update(JSON.stringify([named, starts]));
  return `repeat:${hash.digest("hex").slice(0, 32)}`;
}

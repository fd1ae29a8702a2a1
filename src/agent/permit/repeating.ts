import { createHash } from "node:crypto";

import {
  type DefaultAnswer,
  isHarmlessChoice,
  type RepeatChoice,
  type Repeats,
} from "../../core/questions.ts";
import type { MadeCall } from "../../core/sessions.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { repeatChoices, repeatText } from "../../core/text/words.ts";
import type { RepeatedCall } from "../../exchange/exchanger.ts";
import type { HeldSession } from "../../exchange/lease-holder.ts";
import type { Conceal } from "../../core/secrets.ts";
import { askUnderLease, shownHash, withdrawUnderLease } from "../../store/records/questions/ask.ts";
import { readAskedInThread } from "../../store/records/questions/read.ts";
import type { Store } from "../../store/store.ts";
import { cleaned, isShown, newQuestion } from "./shown-question.ts";

export interface RepeatAsking {
  readonly store: Pick<Store, "read" | "write">;
  readonly held: Pick<HeldSession, "fence" | "session">;
  readonly repeats: Repeats;
  readonly default: DefaultAnswer | undefined;
  /** Applied to what is asked. */
  readonly conceal: Conceal;
}

/** Calls that may have taken effect and would run again. */
export interface Suspects {
  readonly calls: readonly RepeatedCall[];
  /** Names what has begun of them since the checkpoint: once more has, a yes does not count any more. */
  readonly begun: string;
}

const AGAIN: RepeatChoice = "again";

/**
 * Whether these calls may run again. `open` if a person has to say it first: the question is stored then, under the
 * lease, and no call runs. A yes counts for these calls as they had begun by then, and not if an import brought it. A question
 * that was asked counts with `never`, too; one about other calls is withdrawn.
 *
 * Error codes: `lease_lost`, `session_ended`, `database_*`.
 */
export async function mayRepeat(
  asking: RepeatAsking,
  { calls, begun }: Suspects,
): Promise<"yes" | "no" | "open"> {
  const { store, held, conceal } = asking;
  const { fence, session } = held;
  const { thread_suffix } = session;
  const thread = { session_id: session.id, thread_suffix };
  const every = await store.read(readAskedInThread, { ...thread, kind: "repeat" });
  const openOnes = every.filter(({ state }) => state === "open");
  if (calls.length === 0 || asking.repeats === "always") {
    await withdraw(asking, openOnes);
    return "yes";
  }
  const shown = cleaned(
    {
      kind: "repeat",
      text: shownCalls(calls.map((call) => [call.name, subjectOf(call, conceal)])),
      choices: repeatChoices(),
      permission: null,
    },
    conceal,
  );
  const shown_hash = shownHash(shown);
  const call_id = repeatCallId(calls, begun);
  const asked = every.filter((question) => question.call_id === call_id);
  const known = asked.find(
    (question) =>
      question.state !== "withdrawn" &&
      question.shown_hash === shown_hash &&
      isShown(question, shown) &&
      (question.state === "open" || question.answered_here === 1),
  );
  // what was asked about other calls, or otherwise, would stay open for ever
  await withdraw(
    asking,
    openOnes.filter(({ id }) => id !== known?.id),
  );
  if (known?.state === "answered") {
    return known.answer === AGAIN ? "yes" : "no";
  }
  if (known === undefined && asking.repeats === "never") {
    return "no";
  }
  if (known === undefined) {
    const number = (asked.at(-1)?.number ?? 0) + 1;
    const later = isHarmlessChoice(asking.default?.choice ?? "") ? asking.default : undefined;
    const question = newQuestion({ ...shown, call_id, number, shown_hash }, later);
    await store.write(askUnderLease, { fence, thread_suffix, question });
  }
  return "open";
}

async function withdraw(
  { store, held: { fence } }: RepeatAsking,
  questions: readonly { readonly id: string }[],
): Promise<void> {
  if (questions.length > 0) {
    await store.write(withdrawUnderLease, { fence, ids: questions.map(({ id }) => id) });
  }
}

/** Calls that a question names. */
const MAX_NAMED_CALLS = 20;

/** Characters of a call's name, which a model may have made up, and of what it is about: all lines fit into a question. */
const MAX_NAME = 100;
const MAX_ABOUT = 800;

/** Returns the text that asks about calls, by their names and subjects; each has one line. */
export function shownCalls(calls: readonly (readonly [name: string, subject: string])[]): string {
  const lines = calls
    .slice(0, MAX_NAMED_CALLS)
    .map(([name, subject]) => `${cut(name, MAX_NAME)} ${cut(subject, MAX_ABOUT)}`.trimEnd());
  return repeatText(lines, calls.length - lines.length);
}

function cut(text: string, max: number): string {
  // what is cut off is not cleaned: an argument may have megabytes
  return oneLine(text.slice(0, 2 * max)).slice(0, max);
}

/** Returns the subject of a call. A secret is concealed before the text is cut, which could leave half of it. */
function subjectOf({ subject, args }: RepeatedCall, conceal: Conceal): string {
  // a model of a graph of others may give no arguments
  return conceal(subject ?? JSON.stringify(args) ?? "");
}

/** Makes the id of the call for the question. No call of a tool can have it: those have no colon. */
function repeatCallId(calls: readonly MadeCall[], begun: string): string {
  const named = calls.map(({ id, name, args }) => [id, name, args]);
  const hash = createHash("sha256").update(JSON.stringify([named, begun]));
  return `repeat:${hash.digest("hex").slice(0, 32)}`;
}

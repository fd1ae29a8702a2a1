import { newId } from "../../src/core/ids.ts";
import type { AskedPermission } from "../../src/core/questions.ts";
import { offeredChoices, permissionChoices } from "../../src/core/text/words.ts";
import { releaseLease, takeLease } from "../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../src/store/records/messages/begin-exchange.ts";
import { insertQuestion } from "../../src/store/records/questions/ask.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import type { Store } from "../../src/store/store.ts";
import { owner } from "./engines.ts";

interface Asked {
  /** Words of a question of the model. */
  readonly choices?: readonly string[] | null;
  readonly index?: number;
  /** Default: a question of the model, that says its index. */
  readonly text?: string;
  readonly kind?: "question" | "permission";
  readonly permission?: AskedPermission;
  /** Rules of the longer answers of a permission. */
  readonly rules?: readonly string[];
  /** A later number replaces what the same call has asked before. */
  readonly number?: number;
  /** The id of the choice that it gets at once by default. */
  readonly due?: string;
}

/** Asks `Question <index>?` as the call with this index; returns the question's id. */
export async function askIn(
  store: Store,
  session_id: string,
  { choices = null, rules, index = 0, due, ...asked }: Asked,
): Promise<string> {
  const id = newId();
  const question = {
    number: 1,
    kind: "question",
    text: `Question ${index}?`,
    permission: null,
    ...asked,
    id,
    call_id: `call_${index}`,
    choices:
      asked.kind === "permission"
        ? permissionChoices(rules ?? null)
        : choices === null
          ? null
          : offeredChoices(choices),
    shown_hash: "0".repeat(64),
    default: due === undefined ? null : { choice: due, after_ms: 0 },
  } as const;
  await store.write((tx) => insertQuestion(tx, { session_id, thread_suffix: 0 }, question), null);
  return id;
}

/** A session whose exchange waits for the answers to questions with these choices. */
export async function waitingSession(
  store: Store,
  ...choices: readonly (readonly string[] | null)[]
): Promise<{ readonly id: string; readonly ids: readonly string[] }> {
  const { id } = await store.write(createSession, { permission: "all" });
  const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
  const begin = { fence, content: "a question", model: "demo", persona_name: "assistant" };
  await store.write(beginExchange, begin);
  const ids: string[] = [];
  for (const [index, each] of choices.entries()) {
    ids.push(await askIn(store, id, { choices: each, index }));
  }
  await store.write(releaseLease, { fence, finished: false, end: "waiting" });
  return { id, ids };
}

import type { DefaultAnswer, LimitChoice } from "../../core/questions.ts";
import {
  moreOf,
  limitReached,
  limitCallId,
  reachedLimit,
  readLimitCallId,
  usedOf,
} from "../../core/cost/limits.ts";
import { limitChoices } from "../../core/text/words.ts";
import { shownHash } from "../../store/records/questions/ask.ts";
import { readAskedInThread } from "../../store/records/questions/read.ts";
import { readLimitUse } from "../../store/records/sessions/limits.ts";
import type { Store } from "../../store/store.ts";
import { parkWith } from "./tool-asking.ts";

export interface LimitAsking {
  readonly store: Pick<Store, "read">;
  readonly session: { readonly id: string; readonly thread_suffix: number };
  /** The number of the exchange. */
  readonly n: () => number;
  readonly default: DefaultAnswer | undefined;
}

const STOP: LimitChoice = "stop";

/**
 * What the model's node of an attended exchange calls first: once a limit of tokens or of the price is reached, a person is
 * asked whether as much more may be used.
 *
 * Error codes: `budget_reached` or `price_limit_reached` after a no, `database_*`.
 */
export function askAtLimit(asking: LimitAsking): () => Promise<void> {
  const { store, session } = asking;
  return async () => {
    const use = await store.read(readLimitUse, session);
    const kind = reachedLimit(use);
    if (kind === null) {
      return;
    }
    const { used, set } = use[kind];
    const limit = set ?? 0;
    const n = asking.n();
    const questions = await store.read(readAskedInThread, {
      session_id: session.id,
      thread_suffix: session.thread_suffix,
      kind: "limit",
    });
    const own = questions.filter(({ call_id }) => {
      const asked = readLimitCallId(call_id);
      return asked?.kind === kind && asked.limit === limit && asked.n === n;
    });
    if (own.some(({ answer }) => answer === STOP)) {
      throw limitReached(kind, use);
    }
    const open = own.find(({ state }) => state === "open");
    const shown = {
      kind: "limit",
      text: `${usedOf(kind, use)} Continue?`,
      choices: limitChoices(moreOf(kind, limit)),
      permission: null,
    } as const;
    parkWith(
      {
        ...shown,
        shown_hash: shownHash(shown),
        call_id: open?.call_id ?? limitCallId({ kind, limit, n, raised: used + limit }),
        number: open?.number ?? own.length + 1,
      },
      asking.default,
    );
  };
}

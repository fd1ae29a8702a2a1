import type { Selectable } from "kysely";

import type { ExchangeFailure } from "../../../core/sessions.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { batches } from "../threads/bodies.ts";
import type { SessionTable } from "../../tables/database.ts";
import type { Operation } from "../../store.ts";

/** The columns of a session whose last exchange did not fail. */
export const NO_FAILURE = { failure_code: null, failure_sentence: null } as const;

export function failureColumns({ code, sentence }: ExchangeFailure) {
  return { failure_code: code, failure_sentence: sentence };
}

/** The reason of a failure on one line, with its code. */
export function failureLine({ code, sentence }: ExchangeFailure): string {
  return `${oneLine(sentence)} [${oneLine(code)}]`;
}

type FailureRow = Pick<Selectable<SessionTable>, (typeof FAILURE_COLUMNS)[number]>;

/** Why the last exchange failed; null if it finished or was cut. */
export function storedFailureOf(row: FailureRow): ExchangeFailure | null {
  const { exchange_open, failure_code: code, failure_sentence: sentence } = row;
  return exchange_open === 1 && code !== null && sentence !== null ? { code, sentence } : null;
}

/** Why the last exchange of these sessions failed, by id. */
export const readFailures: Operation<
  { readonly ids: readonly string[] },
  ReadonlyMap<string, ExchangeFailure>
> = async (tx, { ids }) => {
  const found = new Map<string, ExchangeFailure>();
  for (const batch of batches(ids)) {
    const rows = await tx.db
      .selectFrom("sessions")
      .select(FAILURE_COLUMNS)
      .select("id")
      .where("id", "in", batch)
      .execute();
    for (const row of rows) {
      const failure = storedFailureOf(row);
      if (failure !== null) {
        found.set(row.id, failure);
      }
    }
  }
  return found;
};

/** Columns that `storedFailureOf` reads. */
export const FAILURE_COLUMNS = ["exchange_open", "failure_code", "failure_sentence"] as const;

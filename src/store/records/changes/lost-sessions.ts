import { readCurrent } from "../exchanges/current.ts";
import { activityOf, leaseHolder } from "../sessions/rows.ts";
import type { Tx } from "../../store.ts";
import type { ChangeKind } from "./read-values.ts";

/** Sessions whose process is gone, and of which a reader knows it: nothing in their rows says when it went. */
export type LostSessions = ReadonlySet<string>;

export interface FoundLost {
  readonly lost: LostSessions | null;
  /** Sessions that a reader does not know. */
  readonly found: readonly { readonly kind: ChangeKind; readonly id: string; readonly n: number }[];
}

/** `changed` are sessions that the reader gets anyway. Costs as much as sessions are held. */
export async function readLost(
  tx: Tx,
  known: LostSessions | null,
  changed: ReadonlySet<string>,
): Promise<FoundLost> {
  if (known === null) {
    return { lost: null, found: [] };
  }
  const held = await tx.db
    .selectFrom("sessions")
    .select(["id", "exchange_open", leaseHolder(tx.dialect)])
    .where("lease_owner", "is not", null)
    .orderBy("id")
    .execute();
  const gone = held.filter(
    ({ holder, exchange_open }) => activityOf(holder, exchange_open === 1) !== "running",
  );
  const unknown = gone.map(({ id }) => id).filter((id) => !known.has(id) && !changed.has(id));
  const current = await readCurrent(tx, unknown);
  return {
    lost: new Set(gone.map(({ id }) => id)),
    found: unknown.flatMap((id) => {
      const exchange = current.get(id);
      return [
        { kind: "changed", id, n: 0 },
        ...(exchange === undefined ? [] : [{ kind: "exchange", id, n: exchange.n } as const]),
      ] as const;
    }),
  };
}

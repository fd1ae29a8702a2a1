import { type Include, includes, type SessionLabels } from "../../core/labels.ts";
import { type CurrentExchange, readCurrent } from "../exchanges/current.ts";
import type { Tx } from "../store.ts";
import { readLabels } from "./labels.ts";

/** What an answer has besides the fields of a session, if it was asked for. */
export type Included = { readonly exchange?: CurrentExchange | null } & Partial<SessionLabels>;

/** By the id of each session. */
export async function readIncluded(
  tx: Tx,
  ids: readonly string[],
  include: Include | undefined,
): Promise<ReadonlyMap<string, Included>> {
  const exchanges = includes(include, "exchange") ? await readCurrent(tx, ids) : null;
  const labels = includes(include, "labels") ? await readLabels(tx, ids) : null;
  return new Map(
    ids.map((id) => [
      id,
      {
        ...(exchanges === null ? {} : { exchange: exchanges.get(id) ?? null }),
        ...labels?.get(id),
      },
    ]),
  );
}

/** The members of a JSON object, to follow others. */
export function members(included: Included): string {
  const json = JSON.stringify(included).slice(1, -1);
  return json === "" ? "" : `,${json}`;
}

import { type Include, includes, type SessionLabels } from "../../core/labels.ts";
import type { KeptMode } from "../../core/permissions.ts";
import { type CurrentExchange, readCurrent } from "../exchanges/current.ts";
import type { Tx } from "../store.ts";
import { readLabels } from "./labels.ts";
import { readModes } from "./modes.ts";

/** What an answer has besides the fields of a session, if it was asked for. */
export type Included = {
  readonly exchange?: IncludedExchange | null;
  readonly permission?: KeptMode | null;
} & Partial<SessionLabels>;

/** Who runs it is nobody else's concern. */
type IncludedExchange = Pick<CurrentExchange, "n" | "state">;

/** By the id of each session. */
export async function readIncluded(
  tx: Tx,
  ids: readonly string[],
  include: Include | undefined,
): Promise<ReadonlyMap<string, Included>> {
  const exchanges = includes(include, "exchange") ? await readCurrent(tx, ids) : null;
  const labels = includes(include, "labels") ? await readLabels(tx, ids) : null;
  const modes = includes(include, "permission") ? await readModes(tx, ids) : null;
  return new Map(
    ids.map((id) => [
      id,
      {
        ...(exchanges === null ? {} : { exchange: shown(exchanges.get(id)) }),
        ...labels?.get(id),
        ...(modes === null ? {} : { permission: modes.get(id) ?? null }),
      },
    ]),
  );
}

function shown(exchange: CurrentExchange | undefined): IncludedExchange | null {
  return exchange === undefined ? null : { n: exchange.n, state: exchange.state };
}

/** The members of a JSON object, to follow others. */
export function members(included: Included): string {
  const json = JSON.stringify(included).slice(1, -1);
  return json === "" ? "" : `,${json}`;
}

import { readMessage } from "../records/messages/message-json.ts";
import { firstShown } from "../records/messages/summary.ts";
import type { Tx } from "../store.ts";
import { damagedCheckpoint } from "./damage.ts";
import { type Segment, segmentsOf, selectBodies } from "./lists.ts";
import type { BodyRow } from "../tables/checkpoints.ts";
import type { ListVersion } from "./value.ts";

/** Items that are read first; each further query reads twice as many. */
const PAGE = 128;

export interface ShownItems {
  /** Position of the first of the items in the list. */
  readonly first: number;
  readonly items: readonly BodyRow[];
}

/**
 * The items of a list version from the first one on that the model is shown, so that a long thread
 * takes as long as what its last summary keeps; all of them without a summary.
 */
export async function readShown(tx: Tx, version: ListVersion): Promise<ShownItems> {
  const { segments } = await segmentsOf(tx, version, new Map());
  let items: BodyRow[] = [];
  let size = PAGE;
  for (let to = version.length; to > 0; size *= 2) {
    const from = Math.max(0, to - size);
    items = [...(await readRange(tx, segments, { from, to })), ...items];
    const shown = firstShownOf(items);
    if (shown !== null) {
      return { first: from + shown, items: items.slice(shown) };
    }
    to = from;
  }
  return { first: 0, items };
}

async function readRange(
  tx: Tx,
  segments: readonly Segment[],
  { from, to }: Pick<Segment, "from" | "to">,
): Promise<BodyRow[]> {
  const items: BodyRow[] = [];
  for (const segment of segments) {
    const range = { from: Math.max(from, segment.from), to: Math.min(to, segment.to) };
    if (range.from < range.to) {
      const query = selectBodies(tx, { ...segment, ...range });
      const columns = ["checkpoint_bodies.id", "hash", "checkpoint_bodies.body"] as const;
      items.push(...(await query.select(columns).execute()));
    }
  }
  if (items.length !== to - from) {
    throw damagedCheckpoint();
  }
  return items;
}

function firstShownOf(items: readonly BodyRow[]): number | null {
  return firstShown({
    length: items.length,
    // most bodies need not be parsed for this
    mayHold: (index, text) => items[index]?.body.includes(text) === true,
    at: (index) => readMessage(items[index]?.body ?? ""),
  });
}

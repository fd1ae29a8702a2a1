import { isDamage } from "../../store/checkpoints/damage.ts";
import type { CheckpointPage } from "../../store/checkpoints/read.ts";
import { hashOf } from "../../langgraph/message-codec.ts";
import { MESSAGES } from "../../langgraph/mirror.ts";
import { rememberPage, tupleOf } from "../../langgraph/read-tuple.ts";
import { createThreadCache } from "../../langgraph/thread-cache.ts";

/**
 * True where the next exchange can read all that a checkpoint holds beside its messages: versions,
 * the other channels, what its tasks have written.
 */
export async function isReadable(
  page: CheckpointPage,
  { shape_hash }: { readonly shape_hash: string },
): Promise<boolean> {
  const [read] = page.checkpoints;
  if (read === undefined || hashOf(read.shape) !== shape_hash) {
    return false;
  }
  if (page.bodies.some(({ body, hash }) => hashOf(body) !== hash)) {
    return false;
  }
  const { [MESSAGES]: _, ...channels } = read.channels;
  const cache = createThreadCache();
  try {
    const lender = rememberPage({ page, cache, lists: new Map(), shared: false });
    await tupleOf({ ...read, channels }, lender, 1);
    return true;
  } catch (error) {
    if (isDamage(error)) {
      return false;
    }
    throw error;
  }
}

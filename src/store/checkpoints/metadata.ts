import type { Tx } from "../store.ts";
import { batches } from "../records/threads/bodies.ts";
import { damagedCheckpoint } from "./damage.ts";
import { type StoredValue, textsOf } from "./value.ts";
import { jsonOf } from "./value-json.ts";

type TextOf = (body: number) => string;

/** Reads bodies, each once: shapes and metadata repeat. Without ids it reads nothing. */
export async function readTexts(tx: Tx, ids: readonly number[]): Promise<TextOf> {
  const texts = new Map<number, string>();
  for (const batch of batches([...new Set(ids)])) {
    const rows = await tx.db
      .selectFrom("checkpoint_bodies")
      .select(["id", "body"])
      .where("id", "in", batch)
      .execute();
    for (const { id, body } of rows) {
      texts.set(id, body);
    }
  }
  return (body) => {
    const text = texts.get(body);
    if (text === undefined) {
      throw damagedCheckpoint();
    }
    return text;
  };
}

/** The bodies to read before `plainMetadata`: none for metadata that is small. */
export function textsOfMetadata(metadata: readonly StoredValue[]): number[] {
  return metadata.flatMap(textsOf);
}

/** LangGraph's metadata, with messages left out. */
export function plainMetadata(
  value: StoredValue,
  textOf: TextOf,
): Readonly<Record<string, unknown>> {
  return recordOf("l" in value ? null : jsonOf(value, textOf).json);
}

/** Channels that are rebuilt from what the tasks of earlier checkpoints wrote. */
export function deltasOf({
  counters_since_delta_snapshot: counters,
}: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(recordOf(counters));
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

import type { Checkpoint } from "@langchain/langgraph-checkpoint";

/** What of a checkpoint is not a value: versions by channel, and what each node has seen of them. */
export type Versions = Pick<Checkpoint, "v" | "channel_versions" | "versions_seen">;

/** The versions with a null for each number, which a graph repeats, and the numbers. */
export interface Shape {
  readonly shape: string;
  /** Numbers in order, with commas between. */
  readonly numbers: string;
}

/**
 * Takes the numbers out of a checkpoint's versions. What is left is the same at most steps of a
 * graph, so it is kept once a thread: with six middlewares it is ten times as long as the numbers.
 */
export function splitVersions({ v, channel_versions, versions_seen }: Versions): Shape {
  const numbers: number[] = [];
  const shape = JSON.stringify({ v, channel_versions, versions_seen }, (key, value: unknown) => {
    if (key !== "v" && typeof value === "number") {
      numbers.push(value);
      return null;
    }
    return value;
  });
  return { shape, numbers: numbers.join(",") };
}

/** The versions that `splitVersions` took apart. */
export function joinVersions({ shape, numbers }: Shape): Versions {
  const all = numbers.split(",").values();
  return JSON.parse(shape, (_, value: unknown) =>
    value === null ? Number(all.next().value) : value,
  ) as Versions;
}

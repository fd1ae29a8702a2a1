import type { Checkpoint } from "@langchain/langgraph-checkpoint";

/**
 * What of a checkpoint a graph repeats at nearly every step: versions by channel, what each node
 * has seen of them, and the values of channels that nothing was ever written to.
 */
export interface Repeated {
  readonly versions: Pick<Checkpoint, "v" | "channel_versions" | "versions_seen">;
  /** Encoded JSON by channel; no messages in it. */
  readonly untouched: Readonly<Record<string, unknown>>;
}

/** The same with a null for each version, and the versions. */
export interface Shape {
  readonly shape: string;
  /** Numbers in order, with commas between. */
  readonly numbers: string;
}

/**
 * Takes the numbers out. What is left is kept once a thread: with six middlewares it is ten times
 * as long as the numbers.
 */
export function splitShape({ versions, untouched }: Repeated): Shape {
  const { v, channel_versions, versions_seen } = versions;
  const numbers: number[] = [];
  // as a text of its own, because a value may hold a null
  const values = JSON.stringify(untouched);
  const shape = JSON.stringify(
    { v, channel_versions, versions_seen, values },
    (key, value: unknown) => {
      if (key !== "v" && typeof value === "number") {
        numbers.push(value);
        return null;
      }
      return value;
    },
  );
  return { shape, numbers: numbers.join(",") };
}

/** What `splitShape` took apart. */
export function joinShape({ shape, numbers }: Shape): Repeated {
  const all = numbers.split(",").values();
  const { values, ...versions } = JSON.parse(shape, (_, value: unknown) =>
    value === null ? Number(all.next().value) : value,
  ) as Repeated["versions"] & { readonly values: string };
  return { versions, untouched: JSON.parse(values) as Repeated["untouched"] };
}

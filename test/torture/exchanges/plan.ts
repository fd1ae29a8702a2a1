import { KINDS, type Kind } from "./script.ts";

/**
 * Where nodes are killed: before and after the commit of what the name says, and of `tool` before and
 * after its effect. With the messages that lead there.
 */
const POINTS = {
  post: KINDS,
  claim: KINDS,
  checkpoint: KINDS,
  mark: ["pay", "pays", "buy", "deep"],
  tool: ["pay", "twice", "buys", "delegate"],
  result: ["pay", "pays", "delegate"],
  ask: ["ask", "buy", "buys", "team"],
  park: ["ask", "buys", "dialog", "both", "deep"],
  answer: ["ask", "buy", "dialog", "team"],
  child: ["delegate", "both", "team", "deep"],
  release: KINDS,
  revive: KINDS,
} as const satisfies Readonly<Record<string, readonly Kind[]>>;

export const POINT_NAMES: readonly string[] = Object.keys(POINTS).flatMap((name) => [
  `${name}:before`,
  `${name}:after`,
]);

/** All kinds of rounds. */
const ROUND_NAMES: readonly string[] = [...POINT_NAMES, "random", "terminate", "suspend"];

/** The messages that lead to what a round is about. */
export function kindsFor(round: string): readonly Kind[] {
  const points: Readonly<Record<string, readonly Kind[]>> = POINTS;
  return points[round.split(":")[0] ?? ""] ?? KINDS;
}

/** Each kind of round once in a random order, and again. */
export function planOf(rounds: number, random: () => number): readonly string[] {
  const plan: string[] = [];
  while (plan.length < rounds) {
    const order = ROUND_NAMES.map((what) => ({ what, at: random() }));
    plan.push(...order.toSorted((a, b) => a.at - b.at).map(({ what }) => what));
  }
  return plan.slice(0, rounds);
}

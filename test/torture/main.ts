import { parseArgs } from "node:util";

/** A torture: prints what it did and measured, and throws where a promise was broken. */
export interface Torture {
  run(options: TortureOptions): Promise<void>;
}

export interface TortureOptions {
  /** How much of it: messages, requests or rounds. Each torture has its own measure. */
  readonly size?: number;
  /** Repeats a failed one. */
  readonly seed?: number;
}

/** The tortures by name; each module is loaded only when its turn comes. */
const TORTURES: Readonly<Record<string, () => Promise<Torture>>> = {
  copy: () => import("./run-copy.ts"),
  hostile: () => import("./run-hostile.ts"),
  backlog: () => import("./run-backlog.ts"),
  stalled: () => import("./run-stalled.ts"),
  network: () => import("./run-network.ts"),
  header: () => import("./run-header.ts"),
  locked: () => import("./run-locked.ts"),
  "many-commands": () => import("./run-many-commands.ts"),
  "power-loss": () => import("./run-power-loss.ts"),
  stopped: () => import("./run-stopped.ts"),
  nodes: () => import("./run-nodes.ts"),
  restarts: () => import("./run-restarts.ts"),
  arguments: () => import("./run-arguments.ts"),
  machines: () => import("./run-machines.ts"),
  "kill-writes": () => import("./run-kill-writes.ts"),
  damages: () => import("./run-damages.ts"),
  pooler: () => import("./run-pooler.ts"),
};

/**
 * `npm run torture -- <name…> [--size N] [--seed N]`: the long versions of what the tests do in
 * short, one after another. Without a name it lists them.
 */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { size: { type: "string" }, seed: { type: "string" } },
  });
  const numbers = [values.size, values.seed].filter((text) => text !== undefined);
  const unknown = positionals.filter((name) => !Object.hasOwn(TORTURES, name));
  if (positionals.length === 0 || unknown.length > 0 || !numbers.every(isWholeNumber)) {
    console.error(`Name one or more of: ${Object.keys(TORTURES).join(", ")}.`);
    console.error("--size and --seed take a whole number.");
    return 2;
  }
  if (values.seed !== undefined) {
    // what `seededRandom` reads
    process.env["REPRISE_TEST_SEED"] = values.seed;
  }
  for (const name of positionals) {
    const torture = await TORTURES[name]?.();
    await torture?.run({
      ...(values.size === undefined ? {} : { size: Number(values.size) }),
      ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
    });
  }
  return 0;
}

function isWholeNumber(text: string): boolean {
  return /^-?\d+$/.test(text);
}

process.exitCode = await main();

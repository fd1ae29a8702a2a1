import { parseArgs } from "node:util";

import { runLongTests, type TortureOptions } from "./long-tests.ts";
import { runSkipped } from "./run-skipped.ts";
import { ONLY_TORTURE, SIZED_TESTS, type SizedTest } from "./sizes.ts";

/** A separate torture: prints what it did and measured, and throws if a promise was broken. */
export interface Torture {
  run(options: TortureOptions): Promise<void>;
}

interface Program {
  readonly what: string;
  /** Its size with `--short`; 0 if it is left out. */
  readonly short: number;
  readonly load: () => Promise<Torture>;
}

/** Programs that measure beside what they check; each is loaded only when its turn comes. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  backlog: {
    what: "A stream of a long session, and how long other requests take meanwhile: messages",
    short: 8000,
    load: () => import("./run-backlog.ts"),
  },
  stalled: {
    what: "Clients that read nothing of any route, what memory they cost and how long others wait: connections",
    short: 100,
    load: () => import("./run-stalled.ts"),
  },
  page: {
    what: "A page in which 1,000 tokens/s arrive, and its memory: minutes",
    short: 0,
    load: () => import("./run-page.ts"),
  },
};

const TESTS: Readonly<
  Record<string, Pick<SizedTest, "what" | "files"> & { readonly short?: number }>
> = {
  ...SIZED_TESTS,
  ...ONLY_TORTURE,
};

/** The tests that PostgreSQL may make different. */
const POSTGRES = "postgres";
const NAMES = [...Object.keys(PROGRAMS), ...Object.keys(TESTS), POSTGRES];

/**
 * `npm run torture -- <name…> [--short] [--size N] [--seed N]`: the long versions of what the tests
 * do in short. `--short` without a name runs a part of each; without anything it lists them. `--skipped FILE` runs what
 * `npm test` has skipped, if REPRISE_TEST_SKIPPED named that file to it.
 */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      short: { type: "boolean", default: false },
      size: { type: "string" },
      seed: { type: "string" },
      skipped: { type: "string" },
    },
  });
  if (values.skipped !== undefined) {
    await runSkipped(values.skipped);
    return 0;
  }
  const numbers = [values.size, values.seed].filter((text) => text !== undefined);
  const unknown = positionals.filter((name) => !NAMES.includes(name));
  const nothing = positionals.length === 0 && !values.short;
  if (nothing || unknown.length > 0 || !numbers.every(isWholeNumber)) {
    console.error(`Name one or more of these, or add --short for a part of each:\n${list()}`);
    console.error("--size and --seed take a whole number.");
    return 2;
  }
  if (values.seed !== undefined) {
    // what `seededRandom` reads
    process.env["REPRISE_TEST_SEED"] = values.seed;
  }
  await runAll(positionals.length === 0 ? NAMES : positionals, {
    short: values.short,
    ...(values.size === undefined ? {} : { size: Number(values.size) }),
    ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
  });
  return 0;
}

async function runAll(
  names: readonly string[],
  { short, ...options }: TortureOptions & { readonly short: boolean },
): Promise<void> {
  const level = short ? "short" : "long";
  const tests = names.flatMap((name) => TESTS[name] ?? []);
  const files = tests.filter((test) => !short || test.short !== 0).flatMap((test) => test.files);
  if (files.length > 0) {
    // all that PostgreSQL has of them comes below
    const project = names.includes(POSTGRES) ? ({ project: "sqlite" } as const) : {};
    await runLongTests({ ...options, ...project, level, files: [...new Set(files)] });
  }
  if (names.includes(POSTGRES)) {
    await runLongTests({ ...options, level, files: [], project: "postgres" });
  }
  const programs = names.flatMap((name) => PROGRAMS[name] ?? []);
  for (const program of programs.filter((each) => !short || each.short > 0)) {
    const torture = await program.load();
    await torture.run({ ...(short ? { size: program.short } : {}), ...options });
  }
}

function list(): string {
  const described = [
    ...Object.entries({ ...PROGRAMS, ...TESTS }).map(([name, { what }]) => [name, what] as const),
    [POSTGRES, "All files whose tests PostgreSQL may make different"] as const,
  ];
  return described.map(([name, what]) => `  ${name.padEnd(16)} ${what}`).join("\n");
}

function isWholeNumber(text: string): boolean {
  return /^-?\d+$/.test(text);
}

process.exitCode = await main();

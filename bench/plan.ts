import { readFileSync } from "node:fs";

import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

import { phaseGraph } from "../src/artifacts/plans/phase-graph.ts";
import type { PhasePlan } from "../src/artifacts/plans/phase-plan.ts";
import { compileSchema } from "../src/artifacts/compile-schema.ts";
import { explainPlan, validatePlan } from "../src/artifacts/plans/validate-plan.ts";
import type { Bench, Measurement } from "./measurement.ts";

interface PlanResult {
  readonly phases: number;
  readonly dependencies: number;
  readonly bytes: number;
  /** Milliseconds of processor time, the least of several runs. */
  readonly bare_ms: number;
  /** JSON.parse and one look-up of each name that is depended on: the least that any check does. */
  readonly floor_ms: number;
  /** The look-up alone, of a plan that was read. */
  readonly lookup_ms: number;
  readonly validate_ms: number;
  readonly layer_ms: number;
  readonly explain_ms: number;
  /** Of the same plan with one dependency named twice. */
  readonly warned_ms: number;
  /** Validating and layering for one phase, held against the smallest plan: 1 is linear. */
  readonly growth: number;
  /** The same of the floor: what memory and caches make of size, for any reader of the plan. */
  readonly floor_growth: number;
}

/** Dependencies of each phase but the first ones. */
const DEPENDENCIES = 5;
const RUNS = 15;

/**
 * Plans without an error, of three sizes: what it takes to validate and to layer them, and to read
 * them with all places as for plans with findings. Processor time, not the clock's, so
 * that other programs on the machine matter less.
 */
export const bench: Bench = {
  about: "validating and layering plans of 1,000, 10,000 and 100,000 phases",
  run: ({ scale }) => {
    const sizes = [1000, 10_000, 100_000].map((phases) => Math.max(10, Math.round(phases * scale)));
    const schemaText = readFileSync(
      new URL("../schemas/dev/phase-plan@1.json", import.meta.url),
      "utf8",
    );
    const results: PlanResult[] = [];
    for (const phases of sizes) {
      results.push(measure(phases, { schemaText, smallest: results[0] }));
    }
    const [smallest] = results;
    if (smallest === undefined) {
      return Promise.resolve([]);
    }
    return Promise.resolve(results.flatMap((result) => measurements(result, smallest)));
  },
};

function measurements(result: PlanResult, smallest: PlanResult): Measurement[] {
  const { phases, lookup_ms, validate_ms, layer_ms, bare_ms, explain_ms, warned_ms } = result;
  const { growth, floor_growth } = result;
  const size = `${phases} phases`;
  const line = (what: string, ours: number): Measurement => {
    return { what: `${size}: ${what}`, unit: "ms", ours, floor: null, reach: null };
  };
  const own = [
    { ...line("validated; JSON.parse and ajv", validate_ms), floor: bare_ms, reach: AT_MOST_THREE },
    {
      ...line("validated, with a warning; JSON.parse and ajv", warned_ms),
      floor: bare_ms,
      reach: result === smallest ? AT_MOST_FOUR : null,
    },
    line("names looked up, nothing else", lookup_ms),
    line("layered", layer_ms),
    line("validated with all positions, as if it had errors", explain_ms),
  ];
  if (result === smallest) {
    return own;
  }
  const than = `time of a phase, of that at ${smallest.phases}`;
  return [
    ...own,
    { ...line(than, growth), unit: "times" },
    {
      ...line(`${than}; only read and looked up`, growth),
      unit: "times",
      floor: floor_growth,
      reach: NO_WORSE,
    },
  ];
}

const AT_MOST_THREE = { at_most: 3 } as const;
const AT_MOST_FOUR = { at_most: 4 } as const;
/** Ours grows with the size as memory and caches make the floor grow; the rest is noise. */
const NO_WORSE = { at_most: 1.25 } as const;

function measure(
  phases: number,
  { schemaText, smallest }: { schemaText: string; smallest: PlanResult | undefined },
): PlanResult {
  const text = planText(phases);
  const warned = planText(phases, { repeats: true });
  const bare = bareSchema(schemaText);
  const schema = compileSchema(JSON.parse(schemaText));
  const checks = { syntax: "json", schema } as const;
  const { plan } = validatePlan(text, checks);
  if (plan === null) {
    throw new Error("the bench's plan is not valid");
  }
  if (validatePlan(warned, checks).findings.length !== 1) {
    throw new Error("the bench's plan has not one warning");
  }
  const bare_ms = leastTime(() => bare(JSON.parse(text)));
  const validate_ms = leastTime(() => validatePlan(text, checks));
  const layer_ms = leastTime(() => phaseGraph(plan));
  const explain_ms = leastTime(() => explainPlan(text, checks), 3);
  const floor_ms = leastTime(() => lookUp(JSON.parse(text)));
  const growth = (ms: number, least: number): number =>
    smallest === undefined ? 1 : ms / phases / (least / smallest.phases);
  return {
    phases,
    dependencies: plan.phases.reduce((sum, { depends_on = [] }) => sum + depends_on.length, 0),
    bytes: Buffer.byteLength(text),
    bare_ms,
    floor_ms,
    lookup_ms: leastTime(() => lookUp(plan)),
    validate_ms,
    layer_ms,
    explain_ms,
    warned_ms: leastTime(() => validatePlan(warned, checks)),
    growth: growth(
      validate_ms + layer_ms,
      (smallest?.validate_ms ?? 1) + (smallest?.layer_ms ?? 1),
    ),
    floor_growth: growth(floor_ms, smallest?.floor_ms ?? 1),
  };
}

function lookUp({ phases }: PhasePlan): number {
  const positions = new Map(phases.map(({ key }, index) => [key, index]));
  let sum = 0;
  for (const { depends_on = [] } of phases) {
    for (const name of depends_on) {
      sum += positions.get(name) ?? 0;
    }
  }
  return sum;
}

function bareSchema(schemaText: string): ValidateFunction {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(JSON.parse(schemaText));
}

/**
 * Each phase depends on some of the earlier ones, drawn from a fixed seed. All keys have one
 * length, so that the sizes differ in nothing else: JSON.parse shares strings of up to 10 letters.
 */
function planText(size: number, { repeats = false } = {}): string {
  let seed = 1;
  const draw = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const key = (index: number): string => `phase-${String(index).padStart(6, "0")}`;
  const phases = Array.from({ length: size }, (_, index) => ({
    key: key(index),
    title: `Phase number ${index}`,
    role: "assistant",
    instructions: `Implement part ${index} of the work as the design says.`,
    depends_on: distinct(index, draw).map(key),
  }));
  if (repeats) {
    phases.at(-1)?.depends_on.splice(0, DEPENDENCIES, key(0), key(0));
  }
  const runId = "0b6f0c5e-3f4b-4d0e-9a55-0d2f6f1f6a01";
  return JSON.stringify({ runId, phaseKey: "planning", phases }, null, 2);
}

/** Different numbers below one, so that no dependency is named twice. */
function distinct(below: number, draw: (below: number) => number): number[] {
  const numbers = new Set<number>();
  while (numbers.size < Math.min(below, DEPENDENCIES)) {
    numbers.add(draw(below));
  }
  return [...numbers];
}

function leastTime(work: () => unknown, runs = RUNS): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

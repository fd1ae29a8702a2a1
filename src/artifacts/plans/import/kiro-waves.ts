import { quote } from "../../../core/text/terminal-text.ts";
import type { Problem } from "./foreign-plan.ts";

interface Block {
  readonly line: number;
  readonly content: string;
}

/** Wave of each task, by its number; null without a graph. Waves may have any numbers: their order counts. */
export interface WaveGraph {
  readonly waves: ReadonlyMap<string, number> | null;
  readonly problems: readonly Problem[];
}

/** Numbers between two waves: for tasks that the graph leaves out, such as checkpoints. */
const BETWEEN = 10_000;

/**
 * Reads the graph that newer files of Kiro have: `{"waves": [{"tasks": ["1.1"]}]}` in a block of code. A task
 * that it leaves out comes after all that are above it in the list.
 */
export function readWaves(
  blocks: readonly Block[],
  tasks: readonly { readonly id: string }[],
): WaveGraph {
  const block = blocks.findLast(({ content }) => /"waves"\s*:/.test(content));
  if (block === undefined) {
    return { waves: null, problems: [] };
  }
  const { line } = block;
  const lists = listsOf(block.content);
  if (lists === null) {
    const message =
      'the graph of dependencies here is not JSON of the form {"waves": [{"tasks": ["1.1"]}]}; correct it, or remove it';
    return { waves: null, problems: [{ line, message }] };
  }
  const listed = new Map<string, number>();
  for (const [at, ids] of lists.entries()) {
    for (const id of ids) {
      listed.set(id, listed.get(id) ?? at * BETWEEN);
    }
  }
  const known = new Set(tasks.map(({ id }) => id));
  const problems = [...listed.keys()]
    .filter((id) => !known.has(id))
    .map((id) => ({
      line,
      message: `the graph of dependencies names the task ${quote(id)}, which is not in this file; correct it, or remove it`,
    }));
  return { waves: wavesOf(tasks, listed), problems };
}

function listsOf(json: string): string[][] | null {
  const read = parsed(json);
  const waves = isRecord(read) ? read["waves"] : null;
  if (!Array.isArray(waves)) {
    return null;
  }
  const lists = waves.map((wave: unknown) => (isRecord(wave) ? wave["tasks"] : null));
  return lists.every(isListOfTexts) ? lists : null;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function wavesOf(
  tasks: readonly { readonly id: string }[],
  listed: ReadonlyMap<string, number>,
): Map<string, number> {
  const waves = new Map<string, number>();
  let latest = 0;
  for (const { id } of tasks) {
    const wave = listedWave(id, listed);
    const taken = wave ?? latest + 1;
    waves.set(id, taken);
    latest = Math.max(latest, taken);
  }
  return waves;
}

/** Returns the wave of a task, or of the task that it is a part of. */
function listedWave(id: string, listed: ReadonlyMap<string, number>): number | undefined {
  for (let part = id; part !== ""; part = part.split(".").slice(0, -1).join(".")) {
    const wave = listed.get(part);
    if (wave !== undefined) {
      return wave;
    }
  }
  return undefined;
}

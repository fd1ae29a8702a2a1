import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { ask } from "./on-first-ask.ts";
import { type Program, PROGRAM_VARIABLE } from "./program-setup.ts";

const { bin: BUILT, compiled: COMPILED } = await ask<Program>(PROGRAM_VARIABLE);
const SOURCES = fileURLToPath(new URL("../../bin/reprise.js", import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the program with `plan …` or `schema …` as a process of its own; with options of Node.js,
 * which look at the modules that it loads, from its sources.
 */
export async function run(
  args: readonly string[],
  { cwd, stdin, node = [] }: { cwd?: string; stdin?: string; node?: readonly string[] } = {},
): Promise<Outcome> {
  // nobody's own personas
  const env = {
    ...process.env,
    HOME: "/nonexistent",
    XDG_CONFIG_HOME: "",
    NODE_COMPILE_CACHE: COMPILED,
  };
  const program = node.length === 0 ? BUILT : SOURCES;
  const child = spawn(process.execPath, [...node, program, ...args], { cwd, env });
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  child.stdin.end(stdin ?? "");
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    exited,
  ]);
  return { code, stdout, stderr };
}

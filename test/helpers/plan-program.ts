import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { type Called, callProgram } from "./call-program.ts";
import { ask } from "./on-first-ask.ts";
import { type Program, PROGRAM_VARIABLE } from "./program-setup.ts";

const { bin: BUILT, compiled: COMPILED } = await ask<Program>(PROGRAM_VARIABLE);
const SOURCES = fileURLToPath(new URL("../../bin/reprise.js", import.meta.url));

const NOBODY = { ...process.env, HOME: "/nonexistent", XDG_CONFIG_HOME: "" };

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Calls `plan …` or `schema …` in this process, without anybody's personas. */
export function call(
  args: readonly string[],
  { cwd = "/nonexistent", stdin = "" }: { cwd?: string; stdin?: string } = {},
): Promise<Called> {
  return callProgram(args, { cwd, env: NOBODY, script: BUILT, input: stdin });
}

/** The same as a separate process; with options of Node.js, it runs from its sources. */
export async function run(
  args: readonly string[],
  { cwd, stdin, node = [] }: { cwd?: string; stdin?: string; node?: readonly string[] } = {},
): Promise<Outcome> {
  const env = { ...NOBODY, NODE_COMPILE_CACHE: COMPILED };
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

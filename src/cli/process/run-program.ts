import { spawn } from "node:child_process";

import type { CliContext } from "./context.ts";

/**
 * Runs this program again in a separate process, on the same terminal. Returns its exit code; null if a signal ended
 * it.
 */
export function runProgram(
  cli: CliContext,
  args: readonly string[],
  { cwd, signal }: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<number | null> {
  const { node, script } = cli.program;
  return new Promise((resolve, reject) => {
    const child = spawn(node, [script, ...args], { cwd, env: cli.env, stdio: "inherit", signal });
    child.on("error", (error) => (signal.aborted ? resolve(null) : reject(error)));
    child.on("close", (code) => resolve(code));
  });
}

import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../bin/reprise.js", import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program with `plan …` or `schema …` as a process of its own. */
export async function run(
  args: readonly string[],
  { cwd, stdin, node = [] }: { cwd?: string; stdin?: string; node?: readonly string[] } = {},
): Promise<Outcome> {
  // nobody's own personas
  const env = { ...process.env, HOME: "/nonexistent", XDG_CONFIG_HOME: "" };
  const child = spawn(process.execPath, [...node, PROGRAM, ...args], { cwd, env });
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

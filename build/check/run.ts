import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  /** The whole environment: nothing of the developer's own reaches the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Runs a program to its end; throws with its output if its exit code is not `expected`. */
export function run(
  [command = "", ...args]: readonly string[],
  { cwd, env, input = "" }: RunOptions,
  expected = 0,
): Ran {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env,
    input,
    encoding: "utf8",
  });
  if (status !== expected) {
    throw new Error(`${args.join(" ")} ended with ${status}, not ${expected}: ${stdout}${stderr}`);
  }
  return { code: status, stdout, stderr };
}

/** Starts a service, hands its address to the callback, and stops it: it has to end with 0. */
export async function whileServing(
  [command = "", ...args]: readonly string[],
  { cwd, env }: RunOptions,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  try {
    const [first] = await once(child.stdout.setEncoding("utf8"), "data");
    const url = /^listening on (\S+)$/m.exec(String(first))?.[1];
    if (url === undefined) {
      throw new Error("the service did not say where it listens");
    }
    await use(url);
  } finally {
    child.kill("SIGTERM");
  }
  const [code] = await gone;
  if (code !== 0) {
    throw new Error(`the service ended with ${code}`);
  }
}

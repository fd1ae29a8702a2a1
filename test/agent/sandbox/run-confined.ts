import { spawn } from "node:child_process";
import { homedir, tmpdir } from "node:os";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { createConfine, type SandboxOptions } from "../../../src/agent/sandbox/confine.ts";
import { createSandboxProbe } from "../../../src/workspace/sandbox/probe.ts";

export interface Ran {
  readonly code: number | null;
  /** Both outputs, up to 1 MiB. */
  readonly output: string;
  readonly ended: string | null;
  readonly notes: readonly string[];
}

export interface RunOptions extends Partial<SandboxOptions> {
  readonly network?: boolean;
  /** What of the home is visible besides. */
  readonly visible?: readonly string[];
  /** The session's folder, if it is not the usual one. */
  readonly at?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called when the command is ready to be started. */
  readonly beforeStart?: () => void;
  /** Called with the process and what it has printed so far. */
  readonly onOutput?: (pid: number, output: string) => void;
}

const MAX_OUTPUT = 1024 * 1024;
const PROGRAMS = [dirname(process.execPath), process.env["PATH"]].join(delimiter);

const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));

/** Not in a folder that a sandbox has a private one of: the checkout can be in one. Null if this user has no other. */
function makeHome(): string | null {
  mkdirSync(CACHE, { recursive: true });
  for (const folder of [realpathSync(CACHE), homedir(), "/var/cache", "/opt"]) {
    if (!/^\/(?:tmp|var\/tmp|run|dev)\//.test(`${folder}/`)) {
      try {
        return mkdtempSync(join(folder, "reprise-sandbox-"));
      } catch {
        // this user may not write there
      }
    }
  }
  return null;
}

/** A home with a state folder and a project, and shell lines that run in the project in the sandbox, if `reason` is null. */
export async function sandboxHome() {
  const outside = makeHome();
  const home = outside ?? mkdtempSync(join(tmpdir(), "reprise-sandbox-"));
  const [state, folder] = [join(home, "state"), join(home, "project")];
  mkdirSync(folder);
  const probed = await createSandboxProbe()();
  const { bubblewrap } = probed;
  const reason =
    probed.reason ?? (outside === null ? "no folder outside of /tmp, /run and /dev" : null);
  const shared =
    bubblewrap === null ? null : createConfine({ bubblewrap, state, env: {}, protectedPaths: [] });
  const run = async (line: string, options: RunOptions = {}): Promise<Ran> => {
    const {
      network = false,
      visible = [],
      at = folder,
      env = {},
      onOutput,
      beforeStart,
      ...rest
    } = options;
    if (bubblewrap === null) {
      throw new Error(probed.reason);
    }
    const confine =
      Object.keys(rest).length > 0 || shared === null
        ? createConfine({ bubblewrap, state, env: {}, protectedPaths: [], ...rest })
        : shared;
    const inner = {
      file: "/bin/sh",
      args: ["-c", line],
      cwd: at,
      env: { PATH: PROGRAMS, HOME: home, SANDBOX_TEST: folder, ...env },
    };
    const { launch, watch, finish } = await confine(inner, { folder: at, network, visible });
    beforeStart?.();
    const child = spawn(launch.file, [...launch.args], {
      cwd: launch.cwd,
      env: launch.env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const pid = child.pid ?? 0;
    watch(pid);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (text: Buffer) => {
        output += text.toString().slice(0, MAX_OUTPUT - output.length);
        onOutput?.(pid, output);
      });
    }
    const { promise, resolve } = Promise.withResolvers<number | null>();
    child.on("exit", resolve);
    const closed = Promise.withResolvers<void>();
    child.on("close", () => closed.resolve());
    const code = await promise;
    await closed.promise;
    return { code, output, ...(await finish()) };
  };
  return {
    home,
    state,
    folder,
    reason,
    run,
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  };
}

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { oneLine } from "../../core/text/terminal-text.ts";
import {
  bubblewrapArguments,
  type BubblewrapHost,
  FILTER_DESCRIPTOR,
  FOLDER_DESCRIPTOR,
  PRIVATE_FOLDERS,
} from "./bubblewrap.ts";
import { findProgram } from "./find-program.ts";
import { type Launch, SANDBOX_LIMITS, type SandboxPolicy } from "./policy.ts";
import { systemCallFilter } from "./seccomp.ts";

/** Programs that start commands in a sandbox. */
export interface Bubblewrap {
  readonly file: string;
  /** Shell that starts bubblewrap; a smaller shell cannot close every file. */
  readonly bash: string;
  readonly host: BubblewrapHost;
  /** The filter of system calls; each launch names a file with it. */
  readonly filter: Buffer;
}

export type SandboxProbe =
  | { readonly bubblewrap: Bubblewrap; readonly reason: null }
  /** Why there is no sandbox: a sentence with what to do, if anything can be done. */
  | { readonly bubblewrap: null; readonly reason: string };

/** Needs of the sandbox of commands from the user and the process. */
export interface SandboxSource {
  /** The folder for the user's state; without it there is no sandbox. */
  readonly state: string | null;
  /** Returns one answer to all who ask. */
  readonly probe: () => Promise<SandboxProbe>;
}

export interface ProbeOptions {
  readonly platform?: NodeJS.Platform;
  readonly processor?: string;
  /** Where programs are searched: never in PATH, which a repository could have a say in. */
  readonly programs?: readonly string[];
}

const PROGRAMS = ["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"];
const PACKAGES = [
  ["bwrap", "bubblewrap"],
  ["bash", "bash"],
  ["prlimit", "util-linux"],
] as const;
const TIMEOUT_MS = 10_000;

/** Returns a function that finds out once whether commands can run in a sandbox here, by starting one. */
export function createSandboxProbe(options: ProbeOptions = {}): () => Promise<SandboxProbe> {
  let found: Promise<SandboxProbe> | undefined;
  return () =>
    (found ??= probe(options).catch((error: unknown) =>
      none(`the sandbox could not be tried: ${error instanceof Error ? error.message : "unknown"}`),
    ));
}

async function probe(options: ProbeOptions): Promise<SandboxProbe> {
  const { platform = process.platform, processor = process.arch } = options;
  if (platform !== "linux") {
    return none("there is one on Linux only");
  }
  const filter = systemCallFilter(processor);
  if (filter === null) {
    return none("there is one on processors of the kinds x64 and arm64 only");
  }
  const { programs = PROGRAMS } = options;
  const [file = null, bash = null, prlimit = null] = PACKAGES.map(([name]) =>
    findProgram(programs, name),
  );
  if (file === null || bash === null || prlimit === null) {
    const missing = PACKAGES.filter(([name]) => findProgram(programs, name) === null);
    const sentences = missing.map(([name, from]) => `${name} is not installed (package ${from})`);
    return none(sentences.join(", "));
  }
  if ((await readFile("/proc/thread-self/children").catch(() => null)) === null) {
    return none("this kernel does not list the processes that a process started");
  }
  return tryOut({ file, bash, host: await hostWith(prlimit), filter });
}

interface Started {
  readonly launch: Launch;
  /** The path of a file with the filter of system calls. */
  readonly filter: string;
  /** As `files` of `ControlGroup`. */
  readonly groups: readonly string[];
}

/** How bubblewrap is started: by a shell, which opens the filter and the folder and enters the control groups. */
export function bubblewrapLaunch(
  { file, bash, host }: Bubblewrap,
  policy: SandboxPolicy,
  { launch, filter, groups }: Started,
): Launch {
  const inside = bubblewrapArguments(policy, launch, host);
  return {
    file: bash,
    args: [
      "-p",
      "-c",
      START,
      "sandbox",
      filter,
      policy.folder,
      String(groups.length),
      ...groups,
      file,
      ...inside,
    ],
    cwd: "/",
    env: { ...withoutLoading(launch.env), TMPDIR: "/tmp", XDG_CACHE_HOME: "/tmp/.cache" },
  };
}

/** Bubblewrap and its shell start outside of the sandbox, and must load nothing that these name. */
function withoutLoading(env: Launch["env"]): Launch["env"] {
  const names = Object.keys(env).filter((name) => !/^(?:LD_|BASH|GCONV_PATH$|LOCPATH$)/.test(name));
  return Object.fromEntries(names.map((name) => [name, env[name] ?? ""]));
}

/** A folder that the parent of this process left open would be a way out, so nothing stays open. */
const START = `for open in /proc/self/fd/*; do
  open=\${open##*/}
  [ "$open" -gt 2 ] && eval "exec $open>&-"
done
exec ${FILTER_DESCRIPTOR}<"$1" || exit 125
exec ${FOLDER_DESCRIPTOR}<"$2" && (cd -P /proc/self/fd/${FOLDER_DESCRIPTOR} && [ "$PWD" = "$2" ]) || {
  echo "sandbox: the session's folder was replaced meanwhile" >&2
  exit 125
}
left=$3; shift 3
while [ "$left" -gt 0 ]; do echo 0 >"$1" || exit 125; shift; left=$((left - 1)); done
exec "$@"`;

function none(reason: string): SandboxProbe {
  return { bubblewrap: null, reason };
}

async function hostWith(prlimit: string): Promise<BubblewrapHost> {
  const [resolver = null, ...folders] = await Promise.all(
    ["/etc/resolv.conf", ...PRIVATE_FOLDERS].map((path) => realpath(path).catch(() => null)),
  );
  const privateFolders = [...new Set(folders.filter((path) => path !== null))];
  return { prlimit, resolver, privateFolders };
}

/** Runs a command that tries what a sandbox refuses. */
async function tryOut(bubblewrap: Bubblewrap): Promise<SandboxProbe> {
  const scratch = await realpath(await mkdtemp(join(tmpdir(), "reprise-sandbox-")));
  try {
    const [folder, secret] = [join(scratch, "folder"), join(scratch, "secret")];
    const [kept, filter, empty] = [
      join(folder, "kept"),
      join(scratch, "filter"),
      join(scratch, "empty"),
    ];
    await mkdir(folder);
    await Promise.all([
      writeFile(kept, ""),
      writeFile(secret, "secret"),
      writeFile(filter, bubblewrap.filter),
      writeFile(empty, ""),
    ]);
    const policy: SandboxPolicy = {
      folder,
      readOnly: [kept],
      pinned: [],
      hidden: [{ path: secret, kind: "file" }],
      home: { homes: [], visible: [], links: [], names: [] },
      programs: [],
      empty,
      network: false,
      limits: SANDBOX_LIMITS,
    };
    const attempt = `{ echo x >kept; } 2>/dev/null && exit 1; [ -s "$1" ] && exit 2; echo x >made || exit 3; [ -e /proc/self/fd/${FOLDER_DESCRIPTOR} ] && exit 4; echo contained`;
    const { file, args, env } = bubblewrapLaunch(bubblewrap, policy, {
      launch: {
        file: "/bin/sh",
        args: ["-c", attempt, "sh", secret],
        cwd: folder,
        env: { PATH: "/usr/bin:/bin" },
      },
      filter,
      groups: [],
    });
    const options = { cwd: "/", env, timeout: TIMEOUT_MS, killSignal: "SIGKILL" } as const;
    const { stdout } = await promisify(execFile)(file, [...args], options);
    return stdout.trim() === "contained"
      ? { bubblewrap, reason: null }
      : none("what was tried in it was not contained");
  } catch (error) {
    return none(`bubblewrap does not work here: ${complaintOf(error)}`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function complaintOf(error: unknown): string {
  const { stderr, code } = Object(error) as { stderr?: unknown; code?: unknown };
  const lines = typeof stderr === "string" ? stderr.split("\n") : [];
  const line = lines.find((each) => each.startsWith("bwrap:")) ?? lines[0] ?? "";
  return line === "" ? `it ended with ${String(code)}` : oneLine(line.slice(0, 300));
}

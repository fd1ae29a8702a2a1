import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

import { type Called, type CallOptions, callProgram } from "./call-program.ts";
import { emptyFileMaker } from "./empty-file.ts";
import { ask } from "./on-first-ask.ts";
import { type Finished, type ProcessOptions, type Running, startProcess } from "./process.ts";
import { type Program, PROGRAM_VARIABLE } from "./program-setup.ts";
import { temporaryFolder } from "./temp.ts";

const makeEmptyFile = await emptyFileMaker();

/** What is installed, not the sources: it is what users start, in a third of the time. */
const { bin: BIN, compiled: COMPILED } = await ask<Program>(PROGRAM_VARIABLE);

/** One user's home on this machine: commands in it see nothing of the real environment. */
export interface Home {
  readonly home: string;
  readonly project: string;
  readonly database: string;
  /** Runs a command to its end, in a separate process. */
  run(args: readonly string[], options?: ProcessOptions): Promise<Finished>;
  /** Runs a command to its end in this process, which costs a tenth. */
  call(args: readonly string[], options?: Partial<CallOptions>): Promise<Called>;
  start(args: readonly string[], options?: ProcessOptions): Running;
  /** Starts what a person would type into a shell; `reprise` is on its path. */
  startShell(command: string, options?: ProcessOptions): Running;
  /** The environment of such a shell. */
  environment(): Record<string, string | undefined>;
  /** Calls a command that must end with 0 and prints JSON on its last line. */
  json<T>(args: readonly string[], options?: Partial<CallOptions>): Promise<T>;
}

/** Folders that outlive a test; by default they are removed with it. */
interface HomeFolders {
  readonly home?: string;
  readonly project?: string;
}

/** A fresh home with an empty project folder as the working directory, and a database with empty tables. */
export function freshHome(
  env: Readonly<Record<string, string>> = {},
  folders: HomeFolders = {},
): Home {
  const home = unusedHome(env, folders);
  makeEmptyFile(home.database);
  return home;
}

/** The same of somebody who has never started the program: there is no database yet. */
export function unusedHome(
  env: Readonly<Record<string, string>> = {},
  { home = temporaryFolder(), project = temporaryFolder() }: HomeFolders = {},
): Home {
  const inHome = (options: ProcessOptions): ProcessOptions => ({
    cwd: project,
    ...options,
    env: {
      ...cleanEnvironment(),
      NODE_COMPILE_CACHE: COMPILED,
      HOME: home,
      PATH: pathWithReprise(home),
      ...env,
      ...options.env,
    },
  });
  const start = (args: readonly string[], options: ProcessOptions = {}): Running =>
    startProcess(process.execPath, [BIN, ...args], inHome(options));
  const run = (args: readonly string[], options: ProcessOptions = {}): Promise<Finished> =>
    start(args, { input: "", ...options }).finished;
  const call = (args: readonly string[], options: Partial<CallOptions> = {}): Promise<Called> =>
    callProgram(args, {
      script: BIN,
      cwd: project,
      ...options,
      env: { ...process.env, ...inHome({ env: options.env ?? {} }).env },
    });
  return {
    home,
    project,
    database: `${home}/.local/share/reprise/reprise.db`,
    start,
    startShell: (command, options = {}) =>
      startProcess("/bin/sh", ["-c", command], inHome(options)),
    environment: () => ({ ...process.env, ...inHome({}).env }),
    run,
    call,
    json: async (args, options) => {
      const { code, stdout, stderr } = await call(args, options);
      if (code !== 0) {
        throw new Error(`reprise ended with ${code}: ${stderr}`);
      }
      return JSON.parse(stdout.trim().split("\n").at(-1) ?? "null");
    },
  };
}

/** As an installation would: a link named `reprise`, on a Node.js that can run it. */
function pathWithReprise(home: string): string {
  const folder = join(home, ".bin");
  if (!existsSync(folder)) {
    mkdirSync(folder);
    symlinkSync(BIN, join(folder, "reprise"));
  }
  return [folder, dirname(process.execPath), process.env["PATH"]].join(delimiter);
}

/** Nothing of the developer's own settings may reach a test. */
function cleanEnvironment(): Record<string, undefined> {
  const names = Object.keys(process.env).filter((name) =>
    /^((REPRISE|XDG|OPENAI|ANTHROPIC|OLLAMA|LANG(CHAIN|SMITH|GRAPH)|HTTP|HTTPS)_|npm_(command|lifecycle|config_user_agent))/.test(
      name,
    ),
  );
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

import { readFileSync } from "node:fs";

import type { CliContext } from "./cli/process/context.ts";
import { processOutputs } from "./cli/process/output.ts";
import { copyLangGraph, openAgent, openExchanger, tryModel } from "./compose.ts";
import { packageFile } from "./core/package-file.ts";
import { openStore } from "./store/open-store.ts";

let nobodyReads = false;

const outputs = processOutputs({ onUnread: leaveQuietly, onUnwritable: leaveFailed });
/** Work that is left when everything else is done. */
const lastSteps: (() => void)[] = [];

/**
 * The composition root: argv, environment and streams become values, and everything else receives
 * them. With cli/process/output.ts the only reader of `process`' globals in the command line.
 */
const cli: CliContext = {
  version: packageVersion(),
  args: process.argv.slice(2),
  program: { node: process.execPath, script: process.argv[1] ?? "" },
  // asked when it is needed: the folder may have been deleted, and not every command uses one
  get cwd() {
    return process.cwd();
  },
  env: process.env,
  // created when it is first used: most commands read nothing and print no errors
  get stdin() {
    return process.stdin;
  },
  stdout: outputs.stdout,
  get stderr() {
    return outputs.stderr;
  },
  signals: process,
  pid: process.pid,
  parentPid: () => process.ppid,
  exit: (code) => process.exit(code),
  held: [],
  suspend: async () => {
    const { suspendProcess } = await import("./cli/terminal/screen/suspend.ts");
    await suspendProcess(process);
  },
  openStore,
  openExchanger,
  copyLangGraph,
  tryModel,
  openAgent: async (cwd, reference) => {
    const { createAgentProcess } = await import("./cli/process/agent-process.ts");
    const { whileLoading, guarded, endSoon } = createAgentProcess(cli, process);
    lastSteps.push(endSoon);
    return guarded(await whileLoading(() => openAgent(cwd, reference)));
  },
  consent: { forThisRun: "none", named: null },
  exitCode: 0,
};

if (asksForVersion(cli.args)) {
  cli.stdout.print(`${cli.version}\n`);
} else {
  await run(cli);
}
process.exitCode = cli.exitCode;
for (const step of lastSteps) {
  await outputs.flushed();
  step();
}

/** Scripts often ask for the version alone, so it loads nothing else of the program. */
function asksForVersion([first, ...others]: readonly string[]): boolean {
  return (first === "--version" || first === "-V") && others.length === 0;
}

async function run(cli: CliContext): Promise<void> {
  const { createProgram } = await import("./cli/program.ts");
  try {
    const program = await createProgram(cli);
    await program.parseAsync(cli.args, { from: "user" });
  } catch (error) {
    const [{ asksForJson }, { showError }] = await Promise.all([
      import("./cli/process/context.ts"),
      import("./cli/process/show-error.ts"),
    ]);
    cli.exitCode = showError(cli, error, asksForJson(cli.args));
  }
  if (cli.held.length > 0) {
    (await import("./cli/process/context.ts")).releaseNotices(cli);
  }
}

function packageVersion(): string {
  const text = readFileSync(packageFile("package.json"), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return version;
}

function leaveFailed(error: NodeJS.ErrnoException): void {
  void sayFailed(error);
}

/** Standard output takes nothing, as on a full disk: the exit code has to say so. */
async function sayFailed(error: NodeJS.ErrnoException): Promise<void> {
  if (nobodyReads) {
    return;
  }
  nobodyReads = true;
  // whatever else sets the exit code
  process.on("exit", () => {
    process.exitCode = 1;
  });
  const { showOutputFailed } = await import("./cli/process/output-failed.ts");
  showOutputFailed(cli, error);
  nobodyReads = false;
  leaveQuietly();
}

/** The output has no reader any more: a running exchange stops and keeps what had arrived. */
function leaveQuietly(): void {
  if (nobodyReads) {
    return;
  }
  nobodyReads = true;
  if (!process.emit("SIGHUP")) {
    process.exit(cli.exitCode);
  }
}

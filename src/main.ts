import { readFileSync } from "node:fs";

import type { CliContext } from "./cli/context.ts";
import { packageFile } from "./core/package-file.ts";

let nobodyReads = false;

/**
 * The composition root: argv, environment and streams become values, and everything else receives
 * them. The only reader of `process`' globals in the command line.
 */
const cli: CliContext = {
  version: packageVersion(),
  args: process.argv.slice(2),
  cwd: process.cwd(),
  env: process.env,
  // a stream is made where it is first asked for, and most commands read and complain of nothing
  get stdin() {
    return process.stdin;
  },
  stdout: forgiving(process.stdout),
  get stderr() {
    return forgiving(process.stderr);
  },
  signals: process,
  pid: process.pid,
  exit: (code) => process.exit(code),
  exitCode: 0,
};

if (asksForVersion(cli.args)) {
  cli.stdout.write(`${cli.version}\n`);
} else {
  await carryOut(cli);
}
process.exitCode = cli.exitCode;

/** Scripts ask for the version alone and often: it needs nothing else of the program. */
function asksForVersion([first, ...others]: readonly string[]): boolean {
  return (first === "--version" || first === "-V") && others.length === 0;
}

async function carryOut(cli: CliContext): Promise<void> {
  const { createProgram } = await import("./cli/program.ts");
  try {
    const program = await createProgram(cli);
    await program.parseAsync(cli.args, { from: "user" });
  } catch (error) {
    const { showError } = await import("./cli/show-error.ts");
    cli.exitCode = showError(cli, error, cli.args.includes("--json"));
  }
}

function packageVersion(): string {
  const text = readFileSync(packageFile("package.json"), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return version;
}

/** A reader that has seen enough (`| head`) and a terminal that was closed are no fault. */
function forgiving(output: NodeJS.WriteStream): NodeJS.WriteStream {
  return output.listenerCount("error", leaveQuietly) > 0
    ? output
    : output.on("error", leaveQuietly);
}

function leaveQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE" && error.code !== "EIO") {
    throw error;
  }
  if (nobodyReads) {
    return;
  }
  nobodyReads = true;
  // an exchange that is at work stops and keeps what had arrived
  if (!process.emit("SIGHUP")) {
    process.exit(cli.exitCode);
  }
}

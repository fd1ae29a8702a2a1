import { readFileSync } from "node:fs";

import type { CliContext } from "./cli/context.ts";

/**
 * The composition root: argv, environment and streams become values, and everything else receives
 * them. The only reader of `process`' globals in the command line.
 */
const cli: CliContext = {
  version: packageVersion(),
  cwd: process.cwd(),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signals: process,
  pid: process.pid,
  exit: (code) => process.exit(code),
  exitCode: 0,
};

// a reader that has seen enough (`| head`) and a terminal that was closed are no fault
let nobodyReads = false;
process.stdout.on("error", leaveQuietly);
process.stderr.on("error", leaveQuietly);

const { createProgram } = await import("./cli/program.ts");
try {
  await createProgram(cli).parseAsync(process.argv);
} catch (error) {
  const { showError } = await import("./cli/show-error.ts");
  cli.exitCode = showError(cli, error, process.argv.includes("--json"));
}
process.exitCode = cli.exitCode;

function packageVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return version;
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

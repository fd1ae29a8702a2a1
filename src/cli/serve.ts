import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

import { Command } from "commander";

import { RepriseError } from "../core/errors.ts";
import { STREAM_POLL_MS } from "../core/limits.ts";
import { type CliContext, noticeLine, printLine } from "./context.ts";
import { openStore, withDatabase } from "./database.ts";

interface ServeOptions {
  readonly host: string;
  readonly port: string;
  readonly tokenFile?: string;
  readonly allowHost?: readonly string[];
  readonly streamPollMs: string;
  readonly log?: true;
}

/** `serve`: the HTTP service, until SIGINT, SIGTERM or SIGHUP. */
export function serveCommand(cli: CliContext): Command {
  const command = new Command("serve")
    .description("serve sessions over HTTP")
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option("--port <n>", "the port; 0 picks a free one", "8787")
    .option("--token-file <file>", "a file that holds the bearer token (else REPRISE_TOKEN)")
    .option("--allow-host <name...>", "further names by which clients reach the server")
    .option("--stream-poll-ms <n>", "how often streams look for news", String(STREAM_POLL_MS))
    .option("--log", "write a line of JSON for each request to standard error")
    .action((options: ServeOptions) => serve(cli, command, options));
  return withDatabase(command);
}

async function serve(cli: CliContext, command: Command, options: ServeOptions): Promise<void> {
  const port = numberOption("--port", options.port, { least: 0, most: 65_535 });
  const pollMs = numberOption("--stream-poll-ms", options.streamPollMs, {
    least: 20,
    most: 60_000,
  });
  const token = await readToken(cli, options.tokenFile);
  const stopped = stopSignal(cli);
  await using store = await openStore(cli, command);
  const { startServer } = await import("../http/serve.ts");
  const server = await startServer({
    store,
    version: cli.version,
    project: cli.cwd,
    host: options.host,
    port,
    stream: { pollMs },
    ...(token === null ? {} : { token }),
    allowHosts: options.allowHost,
    log: (line) => {
      // what the service failed at is worth a line, asked for or not
      if (options.log === true || line["event"] === "failure") {
        noticeLine(cli, JSON.stringify(line));
      }
    },
  });
  printLine(cli, `listening on ${server.url}`);
  printLine(cli, `database ${store.location}`);
  printLine(cli, `version ${cli.version}`);
  await stopped;
  await server.close();
}

function numberOption(
  name: string,
  text: string,
  { least, most }: { least: number; most: number },
): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw new RepriseError(
      "invalid_usage",
      `${name} takes a whole number from ${least} to ${most}.`,
    );
  }
  return value;
}

/** The token of `--token-file`, else of REPRISE_TOKEN, else none. */
async function readToken(cli: CliContext, file: string | undefined): Promise<string | null> {
  const token = file === undefined ? cli.env["REPRISE_TOKEN"] : await readTokenFile(cli, file);
  if (token === undefined) {
    return null;
  }
  if (!/^[\x21-\x7e]{1,1024}$/.test(token.trim())) {
    throw new RepriseError(
      "config_invalid",
      "The token must be 1 to 1,024 visible ASCII characters without spaces; make one with `openssl rand -hex 32`.",
    );
  }
  return token.trim();
}

async function readTokenFile(cli: CliContext, file: string): Promise<string> {
  try {
    return await readFile(resolve(cli.cwd, file), "utf8");
  } catch (error) {
    throw new RepriseError("config_invalid", "The token file cannot be read; check its path.", {
      cause: error,
    });
  }
}

/** Settles when the program is asked to stop. A second signal ends it in the system's own way. */
function stopSignal(cli: CliContext): Promise<void> {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of signals) {
        cli.signals.off(signal, stop);
      }
      resolve();
    };
    for (const signal of signals) {
      cli.signals.on(signal, stop);
    }
  });
}

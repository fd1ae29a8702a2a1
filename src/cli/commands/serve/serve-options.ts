import { Command, Option } from "commander";

import type { DefaultAnswer } from "../../../core/questions.ts";
import { MAX_UNSENT_BYTES, STREAM_POLL_MS } from "../../../core/limits.ts";
import { wholeNumber } from "../../process/wrong-usage.ts";
import { ANSWER_AFTER_HELP, answerAfter } from "../answer-after-option.ts";

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly tokenFile?: string;
  readonly readTokenFile?: string;
  readonly metricsTokenFile?: string;
  readonly allowHost?: readonly string[];
  readonly project?: string;
  readonly allowOrigin?: readonly string[];
  readonly publicPath?: string;
  readonly trustProxy?: true;
  readonly streamPollMs: number;
  readonly unsentMib: number;
  readonly drain: number;
  readonly jobs: number;
  readonly repos?: readonly string[];
  readonly agent?: string;
  readonly processes?: number;
  readonly process?: number;
  /** True if what one of several processes prints goes to a terminal. */
  readonly shown?: true;
  readonly answerAfter?: DefaultAnswer;
  readonly page: boolean;
  readonly mcpWrite?: true;
  readonly mcpRedact?: true;
  readonly log?: true;
}

const MAX_PROCESSES = 64;

export const MIB = 1024 * 1024;

/** Exchanges that a node runs at once. */
const DEFAULT_JOBS = 4;

/** Makes the command `serve` with its options, as `ServeOptions` has them. */
export function serveWithOptions(): Command {
  return new Command("serve")
    .description("serve sessions over HTTP")
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option("--port <n>", "the port; 0 picks a free one", wholeNumber("--port", 0, 65_535), 8787)
    .option("--token-file <file>", "a file that holds the bearer token (else REPRISE_TOKEN)")
    .option("--read-token-file <file>", "a file that holds a token that reads and changes nothing")
    .option("--metrics-token-file <file>", "a file that holds a token for /metrics alone")
    .option("--allow-host <name...>", "more host names that clients may use for the service")
    .option("--project <folder>", "serve the schemas in .reprise/schemas of this folder, too")
    .option(
      "--allow-origin <origin...>",
      "web pages of these origins may use the service, such as http://localhost:5173",
    )
    .option("--public-path <path>", "the path prefix that a proxy removes, such as /reprise")
    .option(
      "--trust-proxy",
      "use X-Forwarded-Prefix and X-Forwarded-Proto; safe only if every request comes through a proxy",
    )
    .option(
      "--stream-poll-ms <n>",
      "milliseconds between two polls of a stream",
      wholeNumber("--stream-poll-ms", 20, 60_000),
      STREAM_POLL_MS,
    )
    .option(
      "--unsent-mib <n>",
      "MiB of answers that clients have not taken yet; then pages become small",
      wholeNumber("--unsent-mib", 16, 65_536),
      MAX_UNSENT_BYTES / MIB,
    )
    .option(
      "--drain <seconds>",
      "before stopping, serve this long while /readyz answers 503",
      wholeNumber("--drain", 0, 300),
      0,
    )
    .option(
      "--jobs <n>",
      "exchanges that this node runs at once; 0 runs none",
      wholeNumber("--jobs", 0, 1000),
      DEFAULT_JOBS,
    )
    .option(
      "--repos <folder...>",
      "run only sessions of these folders, those below them, and those without a folder; none: no folder (default: folders that you trust)",
    )
    .option(
      "--agent <module>",
      "run your own LangGraph agent, in its sessions and in those that none has begun",
    )
    .option(
      "--processes <n>",
      "run so many processes on one port (Linux)",
      wholeNumber("--processes", 1, MAX_PROCESSES),
    )
    .addOption(new Option("--process <n>").argParser(Number).hideHelp())
    .addOption(new Option("--shown").hideHelp())
    .option("--answer-after <time=answer>", ANSWER_AFTER_HELP, answerAfter)
    .option("--no-page", "serve no web page")
    .option("--mcp-write", "let MCP clients at /mcp append messages and run exchanges, too")
    .option("--mcp-redact", "leave out of what MCP clients read what an export with --redact does")
    .option("--log", "write a line of JSON for each request to standard error");
}

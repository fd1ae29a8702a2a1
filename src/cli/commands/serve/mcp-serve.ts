import { Command } from "commander";

import type { CliContext } from "../../process/context.ts";
import { wholeNumber } from "../../process/wrong-usage.ts";
import { withStore } from "../../process/database.ts";

export interface McpServeOptions {
  readonly allowWrite?: true;
  readonly redact?: true;
  readonly project?: string;
  readonly jobs: number;
  readonly repos?: readonly string[];
}

/** Exchanges that run at once. */
const DEFAULT_JOBS = 2;

/** `mcp serve`: Reprise as an MCP server on standard input and output. */
export function mcpServeCommand(cli: CliContext): Command {
  const command = new Command("serve")
    .description("serve sessions to an MCP client over standard input and output; read-only")
    .option("--allow-write", "let the client append messages and run exchanges, too")
    .option(
      "--redact",
      "leave out keys, tokens, e-mail addresses, home paths and texts of the config",
    )
    .option("--project <folder>", "know the schemas in .reprise/schemas of this folder, too")
    .option(
      "--jobs <n>",
      "with --allow-write: exchanges that run here at once; 0 leaves them to a service",
      wholeNumber("--jobs", 0, 1000),
      DEFAULT_JOBS,
    )
    .option(
      "--repos <folder...>",
      "with --allow-write: run only sessions of these folders, and those without a folder; none: no folder (default: folders that you trust)",
    )
    .action(async (options: McpServeOptions) => {
      const { serveMcp } = await import("./serve-mcp.ts");
      await serveMcp(cli, command, options);
    });
  return withStore(command);
}

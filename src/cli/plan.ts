import { Command } from "commander";

import { addCommands, type CommandTable } from "./command-table.ts";
import type { CliContext } from "./context.ts";

/** A file for each, in the order of the help. */
const COMMANDS: CommandTable = {
  validate: async () => (await import("./plan/validate.ts")).validateCommand,
  show: async () => (await import("./plan/show.ts")).showCommand,
  graph: async () => (await import("./plan/graph.ts")).graphCommand,
  new: async () => (await import("./plan/new.ts")).newCommand,
};

/** `reprise plan …`. */
export function planCommand(cli: CliContext): Promise<Command> {
  const plan = new Command("plan").description("work with phase plans (dev/phase-plan@1)");
  return addCommands(plan, cli, COMMANDS);
}

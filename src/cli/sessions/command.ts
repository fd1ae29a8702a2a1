import { Command } from "commander";

import { addCommands, type CommandTable } from "../command-table.ts";
import type { CliContext } from "../context.ts";

/** A file for each, in the order of the help. */
const COMMANDS: CommandTable = {
  list: async () => (await import("./list.ts")).listCommand,
  show: async () => (await import("./show.ts")).showCommand,
  resume: async () => (await import("./resume.ts")).resumeCommand,
  end: async () => (await import("./end.ts")).endCommand,
  export: async () => (await import("./export.ts")).exportCommand,
  import: async () => (await import("./import.ts")).importCommand,
  delete: async () => (await import("./delete.ts")).deleteCommand,
  prune: async () => (await import("./prune.ts")).pruneCommand,
  verify: async () => (await import("./verify.ts")).verifyCommand,
  repair: async () => (await import("./repair.ts")).repairCommand,
};

/** `reprise sessions …`. */
export function sessionsCommand(cli: CliContext): Promise<Command> {
  const sessions = new Command("sessions").description(
    "list, show, resume, end, export, import, delete, prune, verify and repair sessions",
  );
  return addCommands(sessions, cli, COMMANDS);
}

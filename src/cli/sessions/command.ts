import { Command } from "commander";

import type { CliContext } from "../context.ts";
import { deleteCommand } from "./delete.ts";
import { endCommand } from "./end.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";
import { listCommand } from "./list.ts";
import { pruneCommand } from "./prune.ts";
import { repairCommand } from "./repair.ts";
import { resumeCommand } from "./resume.ts";
import { showCommand } from "./show.ts";
import { verifyCommand } from "./verify.ts";

/** `reprise sessions …`: a file for each. */
export function sessionsCommand(cli: CliContext): Command {
  const sessions = new Command("sessions").description(
    "list, show, resume, end, move, delete, verify and repair sessions",
  );
  for (const command of [
    listCommand,
    showCommand,
    resumeCommand,
    endCommand,
    exportCommand,
    importCommand,
    deleteCommand,
    pruneCommand,
    verifyCommand,
    repairCommand,
  ]) {
    sessions.addCommand(command(cli));
  }
  return sessions;
}

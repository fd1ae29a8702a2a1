import { Command } from "commander";

import type { CliContext } from "../context.ts";
import { endCommand } from "./end.ts";
import { listCommand } from "./list.ts";
import { resumeCommand } from "./resume.ts";
import { showCommand } from "./show.ts";

/** `reprise sessions …`: a file for each. */
export function sessionsCommand(cli: CliContext): Command {
  const sessions = new Command("sessions").description("list, show, resume and end sessions");
  for (const command of [listCommand, showCommand, resumeCommand, endCommand]) {
    sessions.addCommand(command(cli));
  }
  return sessions;
}

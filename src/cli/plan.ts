import { Command } from "commander";

import type { CliContext } from "./context.ts";
import { graphCommand } from "./plan/graph.ts";
import { newCommand } from "./plan/new.ts";
import { showCommand } from "./plan/show.ts";
import { validateCommand } from "./plan/validate.ts";

/** `reprise plan …`: a file for each. */
export function planCommand(cli: CliContext): Command {
  const plan = new Command("plan").description("work with phase plans (dev/phase-plan@1)");
  for (const command of [validateCommand, showCommand, graphCommand, newCommand]) {
    plan.addCommand(command(cli));
  }
  return plan;
}

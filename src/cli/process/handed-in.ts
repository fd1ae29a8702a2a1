import type { Command } from "commander";

import type { Conversation } from "../../exchange/conversation.ts";
import { databaseLocation } from "./config.ts";
import { type CliContext, noticeLine } from "./context.ts";
import { databaseOption } from "./database.ts";
import { runPlanCommand } from "./resume-command.ts";
import { runProgram } from "./run-program.ts";

/** A terminal that a person sits at. */
interface Terminal {
  readonly leaving: AbortSignal;
  confirm(question: string): Promise<boolean>;
  outside<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** The plan that an agent has handed in last, until the person was shown how it is run. */
export class HandedInPlan {
  readonly #cli: CliContext;
  readonly #command: Command;
  #path: string | null = null;

  constructor(cli: CliContext, command: Command) {
    this.#cli = cli;
    this.#command = command;
  }

  /** Takes the path of a plan in the folder of the session. */
  readonly onPlan = (path: string): void => {
    this.#path = path;
  };

  /** Shows the command that runs the plan, and returns the plan with its folder; null without one. */
  show(conversation: Conversation): { readonly path: string; readonly folder: string } | null {
    const path = this.#path;
    const folder = conversation.planned().repo_path;
    this.#path = null;
    if (path === null || folder === null) {
      return null;
    }
    const line = runPlanCommand(this.#cli, this.#command, { folder, path });
    noticeLine(this.#cli, `Run the plan with: ${line}`);
    return { path, folder };
  }

  /** Shows the command, asks whether to run it, and runs it in place of the conversation. */
  async offer(conversation: Conversation, terminal: Terminal): Promise<void> {
    const plan = this.show(conversation);
    if (plan === null || !(await terminal.confirm("Run this plan?"))) {
      return;
    }
    const database = databaseOption(this.#command);
    const where =
      database === undefined ? [] : ["--database", databaseLocation(this.#cli, database)];
    const { path, folder: cwd } = plan;
    await terminal.outside(() =>
      runProgram(this.#cli, ["plan", "run", path, ...where], { cwd, signal: terminal.leaving }),
    );
  }
}

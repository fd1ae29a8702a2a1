import { Command } from "commander";

import { type ChatOptions, EVENTS_OPTION } from "./chat-options.ts";
import { type CommandTable, namedCommands } from "./command-table.ts";
import type { CliContext } from "./context.ts";
import { withStore } from "./database.ts";
import { wrongUsage } from "./wrong-usage.ts";

/** A file for each, in the order of the help. */
const COMMANDS: CommandTable = {
  sessions: async () => (await import("./sessions/command.ts")).sessionsCommand,
  serve: async () => (await import("./serve.ts")).serveCommand,
  backup: async () => (await import("./backup.ts")).backupCommand,
  upgrade: async () => (await import("./upgrade.ts")).upgradeCommand,
  copy: async () => (await import("./copy.ts")).copyCommand,
  doctor: async () => (await import("./doctor.ts")).doctorCommand,
  plan: async () => (await import("./plan.ts")).planCommand,
  schema: async () => (await import("./schema.ts")).schemaCommand,
  personas: async () => (await import("./personas.ts")).personasCommand,
  trust: async () => (await import("./trust.ts")).trustCommand,
};

/**
 * The command line, with the commands that the arguments name. Parsing throws CommanderError for
 * wrong usage instead of exiting.
 */
export async function createProgram(cli: CliContext): Promise<Command> {
  const program = new Command("reprise");
  program
    .description("Long conversations with an agent that survive a closed terminal.")
    .version(cli.version)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.stdout.print(text),
      writeErr: (text) => cli.stderr.print(text),
      // main.ts shows errors, commander's among them, in one way: see show-error.ts
      outputError: () => undefined,
    })
    .option("--session <id|prefix>", "continue this session (a new full id creates one)")
    .option("--continue", "continue the latest session that you began or opened in this folder")
    .option("--any", "with --continue: the latest session, whoever began it")
    .option("--persona <name>", "who answers: assistant, planner, reviewer or one of yours")
    .option("--model <provider:model>", "anthropic:…, openai:…, ollama:… or demo")
    .option("--repo <path>", "the folder that the agent may read and change (default: this one)")
    .option("--trust", "for this run, use the personas and the AGENTS.md that the folder brings")
    .option("--plan", "planning mode: the agent reads and plans, and changes nothing")
    .option("-p, --prompt <text>", "send one message and exit; - reads it from stdin")
    .option("--continue-exchange", "resume an exchange that was interrupted or failed, and exit")
    .option("--accept-pending", "accept what came over HTTP without authentication")
    .option("--wait", "if the session is busy, wait until its exchange is done")
    .option("--take-over", "if the session is busy, stop its exchange")
    .option("--json", "print one line of JSON for each exchange")
    .option(EVENTS_OPTION, "print one line of JSON for each event")
    .allowExcessArguments(true)
    .action(async (options: ChatOptions) => {
      const { chatAction } = await import("./chat.ts");
      await chatAction(cli, program, options);
    });
  withStore(program);
  for (const command of await namedCommands(cli, COMMANDS)) {
    program.addCommand(command);
  }
  for (const command of allCommands(program)) {
    command.copyInheritedSettings(program).exitOverride().allowExcessArguments(false);
  }
  program.hook("preAction", (_, command) => refuseChatOptions(program, command));
  return program;
}

/** The options of a conversation mean nothing to a command; leaving them out in silence misleads. */
function refuseChatOptions(program: Command, command: Command): void {
  const given = program.options.filter(
    (option) =>
      !["--database", "--no-backup"].includes(option.long ?? "") &&
      program.getOptionValueSource(option.attributeName()) === "cli",
  );
  const [first] = given;
  if (command !== program && first !== undefined) {
    throw wrongUsage(
      `${first.long ?? first.short ?? "An option"} belongs after the command, if the command has that option. Example: reprise sessions list --json.`,
    );
  }
}

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)]);
}

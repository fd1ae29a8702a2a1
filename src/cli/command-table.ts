import type { Command } from "commander";

import type { CliContext } from "./context.ts";

/** Commands by name. Each is loaded only when it is used, so none costs the others time. */
export type CommandTable = Readonly<
  Record<string, () => Promise<(cli: CliContext) => Command | Promise<Command>>>
>;

/** The commands that some argument names; all of them for help. */
export async function namedCommands(cli: CliContext, table: CommandTable): Promise<Command[]> {
  const named = Object.keys(table).filter((name) => cli.args.includes(name));
  return load(cli, table, asksForHelp(cli.args) ? Object.keys(table) : named);
}

/** Adds the same to a group, which needs one: all of them if no argument names one. */
export async function addCommands(
  group: Command,
  cli: CliContext,
  table: CommandTable,
): Promise<Command> {
  const named = await namedCommands(cli, table);
  const commands = named.length > 0 ? named : await load(cli, table, Object.keys(table));
  for (const command of commands) {
    group.addCommand(command);
  }
  return group;
}

function asksForHelp(args: readonly string[]): boolean {
  return ["--help", "-h", "help"].some((word) => args.includes(word));
}

function load(cli: CliContext, table: CommandTable, names: readonly string[]): Promise<Command[]> {
  return Promise.all(
    Object.entries(table)
      .filter(([name]) => names.includes(name))
      .map(async ([, factory]) => (await factory())(cli)),
  );
}

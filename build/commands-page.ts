import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Command } from "commander";

import { definitions, described, namesOf, usageOf } from "./manual.ts";

/** The page of all commands, below the root of the project. */
export const COMMANDS_PAGE = "docs/commands.md";

const BLOCK =
  /(?<=<!-- commands: written by `npm run commands` -->\n).*(?=<!-- end of the commands -->)/s;

/** `docs/commands.md` with the commands and options that the program has; the text around them is kept. */
export async function commandsPage(root: string): Promise<string> {
  const page = readFileSync(join(root, COMMANDS_PAGE), "utf8");
  if (!BLOCK.test(page)) {
    throw new Error(`${COMMANDS_PAGE} has no marks around its commands.`);
  }
  const program = await definitions(root);
  const commands = [program, ...commandsBelow(program)];
  const block = [
    "",
    "| command | what it does |",
    "|---|---|",
    ...commands.map(row),
    "",
    "## Options",
    "",
    ...commands.flatMap(optionsOf),
  ].join("\n");
  return page.replace(BLOCK, () => block);
}

/** Every command that does something, without groups and without `help`. */
export function commandsBelow(parent: Command): Command[] {
  return parent.commands
    .filter((command) => !["complete", "help"].includes(command.name()))
    .flatMap((command) => {
      const below = commandsBelow(command);
      const doesSomething = below.length === 0 || command.registeredArguments.length > 0;
      return doesSomething ? [command, ...below] : below;
    });
}

function row(command: Command): string {
  const link = shownOptions(command).length === 0 ? "" : `](#${namesOf(command).join("-")})`;
  const name = `\`${cell(usageOf(command))}\``;
  return `| ${link === "" ? name : `[${name}${link}`} | ${prose(command.description())} |`;
}

function optionsOf(command: Command): string[] {
  const options = shownOptions(command).map(
    (option) => `| \`${cell(option.flags)}\` | ${prose(described(option))} |`,
  );
  const heading = [
    `### ${namesOf(command).join(" ")}`,
    "",
    "| option | what it does |",
    "|---|---|",
  ];
  return options.length === 0 ? [] : [...heading, ...options, ""];
}

function shownOptions(command: Command): Command["options"][number][] {
  return command.options.filter(({ hidden }) => !hidden);
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

/** Plain text as Markdown shows it, outside of code. */
function prose(text: string): string {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 0 ? cell(part).replaceAll(/[<*_]/g, "\\$&") : cell(part)))
    .join("`");
}

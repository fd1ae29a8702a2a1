import { expandCommand } from "../../../rules/skills/expand.ts";
import type { PromptCommand, SkillSurvey } from "../../../rules/skills/skill.ts";
import { surveySkills } from "../../../rules/skills/survey.ts";
import { noticeLine } from "../../process/context.ts";
import { personaFolderPaths } from "../../process/config.ts";
import type { CommandUsage } from "../command-usage.ts";
import { knownServers } from "./known-servers.ts";
import { slashParts } from "./slash-parts.ts";
import type { ValuesContext } from "./slash-values.ts";

/** `/skills`: the skills that a model is offered, the commands, servers that may have prompts, and what is not used. */
export async function skillsCommand(
  context: ValuesContext,
  own: readonly Pick<CommandUsage, "name">[],
): Promise<void> {
  const { repo_path } = context.conversation.planned();
  const servers = (await knownServers(context.cli, repo_path)).map(({ name }) => name);
  for (const line of skillLines(withoutHidden(await survey(context), own), servers)) {
    noticeLine(context.cli, line);
  }
}

/** Returns the message of a line that calls a command of the folder, and shows it; null for another line. */
export async function commandMessage(context: ValuesContext, line: string): Promise<string | null> {
  const called = slashParts(line);
  const { commands } = await survey(context);
  const command = commands.find(({ name }) => name === called?.name);
  if (called === null || command === undefined) {
    return null;
  }
  const message = expandCommand(command.text, called.argument);
  noticeLine(context.cli, `${command.path} sends:`);
  for (const row of message.split("\n")) {
    noticeLine(context.cli, `| ${row}`);
  }
  return message;
}

/** The commands of the folder, for completion. */
export async function folderCommands(context: ValuesContext): Promise<readonly CommandUsage[]> {
  const { commands } = await survey(context);
  return commands.map(({ name, description, path }) => ({
    name,
    argument: "<arguments>",
    help: description === "" ? path : description,
  }));
}

async function survey({ cli, conversation }: ValuesContext): Promise<SkillSurvey> {
  const repoPath = conversation.planned().repo_path;
  return surveySkills({ ...personaFolderPaths(cli), repoPath });
}

/** A command of the program hides one of the folder. */
function withoutHidden(
  found: SkillSurvey,
  own: readonly Pick<CommandUsage, "name">[],
): SkillSurvey {
  const isHidden = (command: PromptCommand): boolean =>
    own.some(({ name }) => name === command.name);
  const hidden = found.commands
    .filter(isHidden)
    .map(({ name, path }) => ({ path, reason: `/${name} is a command of the program` }));
  return {
    ...found,
    commands: found.commands.filter((command) => !isHidden(command)),
    unused: [...found.unused, ...hidden],
  };
}

function skillLines(
  { skills, commands, unused }: SkillSurvey,
  servers: readonly string[],
): string[] {
  const lines = [
    ...skills.map(({ name, description, path }) => `${name}  ${path}\n    ${description}`),
    ...commands.map(
      ({ name, description, path }) =>
        `/${name}  ${path}${description === "" ? "" : `\n    ${description}`}`,
    ),
    ...servers.map(
      (name) => `/${name}:  names the prompts of this MCP server; it is not asked here`,
    ),
    ...unused.map(({ path, reason }) => `not used: ${path}: ${reason}`),
  ];
  return lines.length === 0
    ? ["There are no skills and commands here. docs/skills.md says where they are."]
    : lines.flatMap((line) => line.split("\n"));
}

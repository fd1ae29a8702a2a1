import type { AvailableCommand } from "@agentclientprotocol/sdk/unstable";

import type { PersonaFolders } from "../rules/personas/folders.ts";
import { expandCommand } from "../rules/skills/expand.ts";
import { surveySkills } from "../rules/skills/survey.ts";

/** Action that a prompt with a slash asks for; a message for everything else. */
export type PromptLine =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "continue" }
  | { readonly kind: "compact" };

interface Place {
  readonly personas: PersonaFolders;
  readonly repoPath: string | null;
}

const OWN: readonly AvailableCommand[] = [
  { name: "continue", description: "resume an exchange that was interrupted or failed" },
  { name: "compact", description: "summarise older messages for the model; all stay readable" },
];

/** Commands of the program, commands of the folder and of the user, and skills. The first one of a name counts. */
export async function availableCommands(place: Place): Promise<AvailableCommand[]> {
  const { commands, skills } = await surveySkills({ ...place.personas, repoPath: place.repoPath });
  const input = { hint: "arguments" };
  const found = [
    ...OWN,
    ...commands.map(({ name, description, path }) => ({
      name,
      description: description === "" ? path : description,
      input,
    })),
    ...skills.map(({ name, description }) => ({ name, description, input })),
  ];
  return [...new Map(found.toReversed().map((each) => [each.name, each])).values()].toReversed();
}

/** Reads a prompt: a line such as `/name arguments` may call a command or a skill. */
export async function readPrompt(text: string, place: Place): Promise<PromptLine> {
  const [, name = "", argument = ""] = /^\/(\S+)[^\S\n]*([^]*)$/.exec(text.trim()) ?? [];
  if (name === "") {
    return { kind: "message", text };
  }
  if (name === "continue" || name === "compact") {
    return argument === "" ? { kind: name } : { kind: "message", text };
  }
  const { commands, skills } = await surveySkills({ ...place.personas, repoPath: place.repoPath });
  const command = commands.find((each) => each.name === name);
  const skill = skills.find((each) => each.name === name);
  if (command !== undefined) {
    return { kind: "message", text: expandCommand(command.text, argument.trim()) };
  }
  if (skill !== undefined) {
    const request = `Use the skill ${skill.name}: read ${skill.path} and follow it.`;
    return { kind: "message", text: expandCommand(request, argument.trim()) };
  }
  return { kind: "message", text };
}

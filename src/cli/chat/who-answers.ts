import { readdir } from "node:fs/promises";

import { defaultModel, type ModelConfig } from "../../rules/models/config.ts";
import { isDemo } from "../../rules/models/name.ts";
import { checkPersona } from "../../rules/personas/preflight.ts";
import { chosenModel } from "../../rules/models/choose.ts";
import type { Persona } from "../../rules/personas/persona.ts";
import { holdsAnything } from "../../rules/trust/holds-anything.ts";
import { isRepriseError } from "../../core/errors.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { personaFolderPaths, settingsOf } from "../process/config.ts";
import type { CliContext } from "../process/context.ts";

export interface Answering {
  /** The agent of `--agent`; null for the built-in one. */
  readonly agent: string | null;
  /** The model that the next message goes to; null if the agent chooses it. */
  readonly model: string | null;
  /** Facts about the persona that a person should know, each a sentence. */
  readonly notes: readonly string[];
  /** True if the demo would answer only because nothing names a model for the address that is set. */
  readonly leavesAddress: boolean;
}

/** Who answers in a session, or would in one that has not begun. Error codes: `config_invalid`. */
export async function whoAnswers(
  cli: CliContext,
  session: {
    readonly persona_name: string;
    readonly model: string | null;
    readonly repo_path: string | null;
  },
): Promise<Answering> {
  const { models: config } = await settingsOf(cli).at(session.repo_path);
  const model = session.model ?? defaultModel(config);
  const leaves = (chosen: string): boolean =>
    session.model === null && leavesAddress(config, chosen);
  const withoutPersona = {
    agent: null,
    model,
    notes: addressNotes(config, model),
    leavesAddress: leaves(model),
  };
  if (!(await hasOwnPersonas(cli, session.repo_path))) {
    return withoutPersona;
  }
  try {
    const { persona_name: name, repo_path } = session;
    const persona = await checkPersona(personaFolderPaths(cli), { name, repo_path });
    const chosen = chosenModel({ session: session.model, persona, config });
    const notes = [...personaNotes(persona, chosen), ...addressNotes(config, chosen)];
    return { agent: null, model: chosen, notes, leavesAddress: leaves(chosen) };
  } catch (error) {
    if (isRepriseError(error)) {
      // the first message is refused with the reason
      return withoutPersona;
    }
    throw error;
  }
}

/** The demo answers only because nothing names a model, although an address is set. */
function leavesAddress(config: ModelConfig, model: string): boolean {
  return isDemo(model) && config.model === null && isSet(config.providers["openai"]);
}

function isSet(provider: ModelConfig["providers"][string] | undefined): boolean {
  return (provider?.baseUrl ?? null) !== null;
}

function addressNotes(config: ModelConfig, model: string): string[] {
  return leavesAddress(config, model)
    ? ["The address in OPENAI_BASE_URL is not used without --model openai:<name>."]
    : [];
}

/** Says what was left out of the persona, and which model it names if another one answers. */
export function personaNotes(persona: Persona, model: string): string[] {
  const name = oneLine(persona.name);
  const notes = persona.notes.map((note) => `persona ${name}: ${oneLine(note)}`);
  if (persona.source !== "repository" || persona.model === null || persona.model === model) {
    return notes;
  }
  const wanted = oneLine(persona.model);
  return [
    ...notes,
    `persona ${name} of this folder names the model ${wanted}; ${oneLine(model)} answers. Choose it with --model or /model.`,
  ];
}

/** The built-in ones name no model and have no notes: usually nothing has to be read. */
async function hasOwnPersonas(cli: CliContext, folder: string | null): Promise<boolean> {
  const { userDir } = personaFolderPaths(cli);
  const files = userDir === null ? [] : await readdir(userDir).catch(() => []);
  return files.length > 0 || (folder !== null && holdsAnything(folder));
}

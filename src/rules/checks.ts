import { plural } from "../core/text/text.ts";
import { type Check, failedBy, ok, warning } from "../store/check.ts";
import { defaultModel, type ModelConfig } from "./models/config.ts";
import { isDemo } from "./models/name.ts";
import { endSentence } from "./models/retirement.ts";
import { modelSettings } from "./models/settings.ts";
import type { PersonaSurvey } from "./personas/list.ts";
import type { SkillSurvey } from "./skills/skill.ts";
import { isBroken } from "./personas/persona.ts";

/** The personas that a session could choose, and the files that cannot be used. */
export function personaChecks({ entries, withheld }: PersonaSurvey): Check[] {
  const broken = entries
    .filter(isBroken)
    .map(({ path, fault }) => warning("personas", `${path} cannot be used: ${fault}.`));
  const notes = entries.flatMap((entry) =>
    isBroken(entry) ? [] : entry.notes.map((note) => ok("personas", `${entry.path}: ${note}.`)),
  );
  const usable = entries.length - broken.length;
  return [
    ...broken,
    ...notes,
    ...(withheld.length === 0 ? [] : [notTrusted(withheld.length)]),
    ok("personas", `${plural(usable, "persona")} to choose from.`),
  ];
}

function notTrusted(count: number): Check {
  const what = count === 1 ? "1 persona of it is" : `${count} personas of it are`;
  return ok(
    "personas",
    `This folder is not trusted, so ${what} not used; \`reprise trust add\` trusts it.`,
  );
}

/** The skills and commands of a folder, and the files that cannot be used; nothing if there are none. */
export function skillChecks({ skills, commands, unused }: SkillSurvey): Check[] {
  const count = `${plural(skills.length, "skill")} and ${plural(commands.length, "command")}`;
  return [
    ...unused.map(({ path, reason, isWithheld }) =>
      (isWithheld === true ? ok : warning)("skills", `${path} is not used: ${reason}.`),
    ),
    ...(skills.length + commands.length === 0 ? [] : [ok("skills", `${count} to use.`)]),
  ];
}

/**
 * The model of sessions that name none, when it ends, and which providers have a key. Keys are never shown.
 */
export function modelCheck(config: ModelConfig): Check {
  const name = defaultModel(config);
  try {
    const { facts } = modelSettings({ name, config });
    const end = endSentence(name, facts.ends, new Date());
    return end === null
      ? ok("models", usedSentence(name, config))
      : warning("models", `The default model: ${end}`);
  } catch (error) {
    return failedBy(error, "models", "The default model: ");
  }
}

function usedSentence(name: string, { providers }: ModelConfig): string {
  const keys = Object.entries(providers).flatMap(([provider, { apiKey, keyFrom, readKey }]) => {
    const inConfig = readKey === undefined ? [] : [`providers.${provider} of the config`];
    return apiKey === null ? inConfig : [keyFrom];
  });
  const known = keys.length === 0 ? "no API key is set" : `${keys.join(" and ")} set`;
  return isDemo(name)
    ? `Sessions without a model use the offline demo (${known}). For a real model, set ANTHROPIC_API_KEY, OPENAI_API_KEY or REPRISE_MODEL.`
    : `Sessions without a model use ${name} (${known}).`;
}

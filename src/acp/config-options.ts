import type {
  SessionConfigOption,
  SessionConfigSelectOption,
} from "@agentclientprotocol/sdk/unstable";

import { RepriseError } from "../core/errors.ts";
import { EFFORTS } from "../core/model-settings.ts";
import { PERMISSION_MODES } from "../core/permissions.ts";
import { oneLine } from "../core/text/terminal-text.ts";
import { modeMeaning } from "../core/text/words.ts";
import type { Conversation } from "../exchange/conversation.ts";
import type { Settings } from "../rules/config/settings.ts";
import { defaultModel } from "../rules/models/config.ts";
import { takesEffort } from "../rules/models/effort.ts";
import { modelFacts } from "../rules/models/facts.ts";
import { listModels } from "../rules/models/list.ts";
import type { PersonaFolders } from "../rules/personas/folders.ts";
import { listPersonas } from "../rules/personas/list.ts";
import { isBroken } from "../rules/personas/persona.ts";

/** Sources of the choices of a session. */
export interface OptionSource {
  readonly conversation: Conversation;
  readonly settings: Settings;
  readonly personas: PersonaFolders;
}

/** The value for what nothing chooses. */
const DEFAULT = "default";

/** Choices of a session: model, permission mode, effort and persona. Error codes: `config_invalid`. */
export async function configOptions({
  conversation,
  settings,
  personas,
}: OptionSource): Promise<SessionConfigOption[]> {
  const { model: own, persona_name, repo_path } = conversation.planned();
  const { models } = await settings.at(repo_path);
  const entries = await listPersonas({ ...personas, repoPath: repo_path });
  const usable = entries.flatMap((entry) => (isBroken(entry) ? [] : [entry]));
  const model = own ?? defaultModel(models);
  const names = listModels(models, entries)
    .filter(({ is_usable }) => is_usable)
    .map(({ name }) => name);
  const facts = knownFacts(model, models);
  const efforts = EFFORTS.filter((effort) => facts === null || takesEffort(effort, model, facts));
  const { mode } = await conversation.permissions();
  const { effort } = conversation.modelSettings();
  return [
    select("model", "Model", "model", {
      description:
        "Another model continues the conversation; its provider reads all of it once more.",
      current: model,
      values: withCurrent(model, names).map((name) => ({ value: name, name: oneLine(name) })),
    }),
    select("mode", "Permissions", "mode", {
      description: "What the agent may do without asking.",
      current: mode,
      values: PERMISSION_MODES.map((value) => ({
        value,
        name: value,
        description: modeMeaning(value),
      })),
    }),
    // some models take none
    ...(efforts.length === 0 && effort === null
      ? []
      : [
          select("effort", "Effort", "thought_level", {
            description: "How much the model reasons.",
            current: effort ?? DEFAULT,
            values: withCurrent(effort ?? DEFAULT, [DEFAULT, ...efforts]).map(plainValue),
          }),
        ]),
    select("persona", "Persona", "_persona", {
      description: "Who answers. Another persona begins a fresh context; the messages stay.",
      current: persona_name,
      values: withCurrent(
        persona_name,
        usable.map(({ name }) => name),
      ).map((name) => ({
        value: name,
        name: oneLine(name),
        description: oneLine(usable.find((each) => each.name === name)?.description ?? ""),
      })),
    }),
  ];
}

/**
 * Sets one of them. Error codes: `invalid_request` for an option or a value that there is not, `session_busy` for what cannot
 * change during an exchange, and those of the setting.
 */
export async function setConfigOption(
  source: OptionSource,
  { id, value }: { readonly id: string; readonly value: unknown },
): Promise<void> {
  const { conversation } = source;
  const option = (await configOptions(source)).find((each) => each.id === id);
  const known = option?.type === "select" ? option.options : [];
  if (typeof value !== "string" || option === undefined) {
    throw noSuchValue();
  }
  if (option.type === "select" && option.currentValue === value) {
    return;
  }
  // a model may be one that no list has
  if (id !== "model" && !known.some((each) => "value" in each && each.value === value)) {
    throw noSuchValue();
  }
  switch (id) {
    case "model":
      await conversation.switchModel(value);
      return;
    case "mode":
      await setMode(conversation, value);
      return;
    case "effort":
      await conversation.setModelSettings({
        effort: EFFORTS.find((each) => each === value) ?? null,
      });
      return;
    case "persona":
      await conversation.checkPersona(value);
      await conversation.startThread({ archive: false, persona_name: value });
      return;
  }
}

async function setMode(conversation: Conversation, value: string): Promise<void> {
  const mode = PERMISSION_MODES.find((each) => each === value);
  if (mode !== undefined) {
    await conversation.setPermission(mode);
  }
}

function noSuchValue(): RepriseError {
  return new RepriseError(
    "invalid_request",
    "There is no such option, or it has no such value. `configOptions` of the session lists them.",
  );
}

interface Select {
  readonly description: string;
  readonly current: string;
  readonly values: SessionConfigSelectOption[];
}

function select(
  id: string,
  name: string,
  category: string,
  { description, current, values }: Select,
): SessionConfigOption {
  return {
    type: "select",
    id,
    name,
    category,
    description,
    currentValue: current,
    options: values,
  };
}

function plainValue(value: string): SessionConfigSelectOption {
  return { value, name: value };
}

/** A value that counts now is always one of them. */
function withCurrent(current: string, values: readonly string[]): readonly string[] {
  return values.includes(current) ? values : [current, ...values];
}

/** Null for a name that no model has. */
function knownFacts(model: string, models: Parameters<typeof modelFacts>[1]) {
  try {
    return modelFacts(model, models);
  } catch {
    return null;
  }
}

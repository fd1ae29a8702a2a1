import { oneLine } from "../../../core/text/terminal-text.ts";
import { DEFAULT_MODELS, hasKey, type ModelConfig } from "../../../rules/models/config.ts";
import { builtInProvider, providerLabel } from "../../../rules/models/providers.ts";
import { aligned } from "../../output/aligned.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import type { Dialog } from "./dialog.ts";

/** Lists longer than this do not fit above the question. */
const MAX_SHOWN = 15;

/** Error codes: `invalid_usage` if there is no answer. */
export async function askProvider(dialog: Dialog, config: ModelConfig): Promise<string> {
  const names = providerNames(config);
  if (!dialog.mayAsk) {
    throw wrongUsage(`The provider is missing. Give --provider with one of ${names.join(", ")}.`);
  }
  dialog.say("Which provider answers?");
  const rows = names.map((name, index) => [
    `${String(index + 1).padStart(4)}.`,
    name,
    dialog.isWide
      ? `${providerLabel(name).replace(/^the /, "")}, ${keyWords(name, config)}`
      : keyWords(name, config),
  ]);
  for (const row of aligned(rows)) {
    dialog.say(row);
  }
  for (;;) {
    const answer = await dialog.ask("Provider (number or name): ");
    if (answer === null) {
      throw noAnswer("the provider", "--provider <name>");
    }
    const chosen = chosenOf(names, answer);
    if (chosen !== null) {
      return chosen;
    }
    dialog.say(`Type a number from 1 to ${names.length}, or a name of the list.`);
  }
}

/** The demo needs no setup. */
export function providerNames({ providers }: ModelConfig): string[] {
  return Object.keys(providers).filter((name) => name !== "demo");
}

function keyWords(name: string, { providers }: ModelConfig): string {
  const provider = providers[name];
  const key = provider !== undefined && hasKey(provider) ? "its key is set" : "needs a key";
  if (builtInProvider(name)?.package !== undefined && isKeyless(name)) {
    return "needs a package";
  }
  return isKeyless(name) ? "on your machine" : key;
}

/** True for servers that people run themselves. */
export function isKeyless(name: string): boolean {
  return builtInProvider(name)?.isKeyless === true;
}

/** Null if Enter was pressed and `mayBeEmpty`. Error codes: `invalid_usage` if there is no answer. */
export async function askKey(
  dialog: Dialog,
  provider: string,
  held: string | null,
): Promise<{ readonly typed: string } | null> {
  const label = providerLabel(provider);
  if (held !== null) {
    dialog.say(`${held} already has a key. Press Enter to use that one.`);
  }
  for (;;) {
    const typed = await dialog.askSecret(`Key of ${label} (it is not shown): `);
    if (typed === null) {
      throw noAnswer("the key", "--key-file <path>, --key-command <line> or --key-env <name>");
    }
    if (typed === "" && held !== null) {
      return null;
    }
    if (/^[\x21-\x7e]{1,4096}$/.test(typed)) {
      return { typed };
    }
    dialog.say("A key is one line of 1 to 4,096 letters, digits and signs, without spaces.");
  }
}

/** Null for the address that counts now. Error codes: `invalid_usage` if there is no answer. */
export async function askAddress(
  dialog: Dialog,
  { example, now }: { readonly example: string; readonly now: string | null },
): Promise<string | null> {
  for (;;) {
    const answer = await dialog.ask(
      now === null ? `Address, such as ${example}: ` : `Address [${oneLine(now)}]: `,
    );
    if (answer === null) {
      throw noAnswer("the address", "--base-url <address>");
    }
    if (answer === "" && now !== null) {
      return null;
    }
    if (isAddress(answer)) {
      return answer;
    }
    dialog.say(`Write an address with its scheme, such as ${example}.`);
  }
}

/** True for an address of the web, as the config takes it. */
export function isAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:\/\/[^/]/.test(text);
}

/** The provider's name of a model. Error codes: `invalid_usage` if there is no answer. */
export async function askModel(
  dialog: Dialog,
  models: readonly string[],
  standard: string | null,
): Promise<string> {
  const shown = models.slice(0, MAX_SHOWN);
  if (shown.length > 0) {
    dialog.say("Its models:");
  }
  for (const row of aligned(
    shown.map((name, at) => [`${String(at + 1).padStart(4)}.`, oneLine(name)]),
  )) {
    dialog.say(row);
  }
  if (models.length > shown.length) {
    dialog.say(`      and ${models.length - shown.length} more; type the name of one`);
  }
  for (;;) {
    const preset = standard === null ? "" : ` [${oneLine(standard)}]`;
    const answer = await dialog.ask(`Model (number or name)${preset}: `);
    if (answer === null) {
      throw noAnswer("the model", "--model <name>");
    }
    const chosen = answer === "" ? standard : (chosenOf(shown, answer) ?? answer);
    if (chosen !== null && !/^\d{1,2}$/.test(chosen)) {
      return chosen;
    }
    dialog.say("Type a number of the list, or the name of a model.");
  }
}

/** The one that people of this provider begin with; null if nothing says which. */
export function standardModel(
  provider: string,
  {
    models,
    isElsewhere,
    config: { model },
  }: {
    /** Names that the provider lists. */
    readonly models: readonly string[];
    /** True at an address that is not the provider's own. */
    readonly isElsewhere: boolean;
    readonly config: ModelConfig;
  },
): string | null {
  const own = model?.startsWith(`${provider}:`) === true ? model.slice(provider.length + 1) : null;
  const known = DEFAULT_MODELS.find((each) => each.provider === provider)?.model ?? null;
  const isOffered = (name: string): boolean =>
    models.includes(name) || (models.length === 0 && (name === own || !isElsewhere));
  return [own, known].find((name) => name !== null && isOffered(name)) ?? models[0] ?? null;
}

/** A next step after a test that failed. */
export type NextStep = "key" | "model" | "again" | "keep" | "leave";

const STEPS: Readonly<Record<NextStep, string>> = {
  key: "give another key",
  model: "choose another model",
  again: "test again",
  keep: "keep it although the test failed",
  leave: "leave; nothing is kept",
};

/** `leave` at an empty line and without an answer. */
export async function askNextStep(dialog: Dialog, hasNoKey: boolean): Promise<NextStep> {
  const all: readonly NextStep[] = ["key", "model", "again", "keep", "leave"];
  const steps = all.filter((step) => step !== "key" || !hasNoKey);
  dialog.say("What next?");
  for (const [index, step] of steps.entries()) {
    dialog.say(`${String(index + 1).padStart(4)}.  ${STEPS[step]}`);
  }
  for (;;) {
    const answer = await dialog.ask(`Number [${steps.length}]: `);
    const step = answer === null || answer === "" ? "leave" : steps[Number(answer) - 1];
    if (step !== undefined) {
      return step;
    }
    dialog.say(`Type a number from 1 to ${steps.length}.`);
  }
}

/** By its number in the list, or its name; null for something else. */
function chosenOf(names: readonly string[], answer: string): string | null {
  const named = names.find((name) => name === answer || name === answer.toLowerCase());
  return named ?? (/^\d{1,3}$/.test(answer) ? (names[Number(answer) - 1] ?? null) : null);
}

function noAnswer(what: string, option: string): Error {
  return wrongUsage(
    `Nothing was kept: ${what} is missing. Run \`reprise setup\` again, or give ${option}.`,
  );
}

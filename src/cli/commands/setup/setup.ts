import { Command } from "commander";

import { isRepriseError } from "../../../core/errors.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { configPlace, settingsOf } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import { type Candidate, withCandidate } from "./candidate.ts";
import { type Dialog, openDialog } from "./dialog.ts";
import { addressFor, type GivenFacts, keyFor, knownProvider, modelFor } from "./facts.ts";
import { keepProvider } from "./keep.ts";
import { askKey, askNextStep, askProvider, isKeyless } from "./questions.ts";
import { report } from "./report.ts";

/** A model that does not begin to answer a word within this time would not be usable either. */
const TEST_MS = 60_000;

interface SetupOptions extends GivenFacts {
  readonly test: boolean;
  readonly json?: true;
}

/** `setup`: a provider, its key and a model, tested and kept in the config. */
export function setupCommand(cli: CliContext): Command {
  return new Command("setup")
    .description("choose a provider, keep its key, choose a model, and test it with one call")
    .option("--provider <name>", "such as anthropic, openai or ollama; without it, a list is shown")
    .option("--model <name>", "as the provider names it (default: its usual one)")
    .option("--key-file <path>", "a file that holds the key; the config names it")
    .option("--key-command <line>", "a command that prints the key, such as 'pass show openai'")
    .option("--key-env <name>", "the variable that holds the key")
    .option("--base-url <address>", "the address of the provider, if it is not its usual one")
    .option("--no-test", "send nothing: keep what is given")
    .option("--json", "ask nothing, and print one line of JSON")
    .action((options: SetupOptions) => setup(cli, options));
}

/** Error codes: `invalid_usage`, `config_invalid`, `model_*`, `file_unwritable`. */
async function setup(cli: CliContext, options: SetupOptions): Promise<void> {
  const place = configPlace(cli);
  const { models } = await settingsOf(cli).at(null);
  const isTerminal = cli.stdin.isTTY === true;
  const mayAsk = options.json !== true && (isTerminal || options.provider === undefined);
  using dialog = openDialog(cli, mayAsk);
  const provider = knownProvider(options.provider ?? (await askProvider(dialog, models)), models);
  const kept = (await settingsOf(cli).config())?.providers[provider]?.baseUrl ?? null;
  let candidate: Candidate = {
    provider,
    baseUrl: await addressFor(dialog, { provider, options, models, kept }),
    key: null,
  };
  candidate = { ...candidate, key: await keyFor(cli, dialog, { candidate, options, models }) };
  const asksList = options.test || mayAsk;
  const model = await modelFor(cli, dialog, { candidate, given: options.model, asksList });
  const tested = options.test
    ? await testUntilKept(cli, dialog, { candidate, model })
    : await untested(cli, { candidate, model });
  if (tested === null) {
    dialog.say("Nothing was kept. `reprise setup` begins again.");
    cli.exitCode = 1;
    return;
  }
  const { keyFile } = await keepProvider(place, { ...tested.candidate, model: tested.model });
  await report(cli, { ...tested, keyFile, isJson: options.json === true });
}

interface Chosen {
  readonly candidate: Candidate;
  /** As `provider:model`. */
  readonly model: string;
}

/**
 * Tests a model, with another key or model that the person gives, until it answers or the person keeps it untested. Null if the
 * person leaves. Error codes: `model_*` if there is nobody to ask.
 */
async function testUntilKept(
  cli: CliContext,
  dialog: Dialog,
  chosen: Chosen,
): Promise<(Chosen & { readonly isTested: boolean }) | null> {
  let { candidate, model } = chosen;
  for (;;) {
    const failure = await test(cli, dialog, { candidate, model });
    if (failure === null) {
      return { candidate, model, isTested: true };
    }
    if (!dialog.mayAsk) {
      dialog.say("Nothing was kept.");
      throw failure;
    }
    dialog.say(failure.message);
    switch (await askNextStep(dialog, isKeyless(candidate.provider))) {
      case "key":
        candidate = { ...candidate, key: await askKey(dialog, candidate.provider, null) };
        break;
      case "model":
        model = await modelFor(cli, dialog, { candidate, given: undefined, asksList: true });
        break;
      case "again":
        break;
      case "keep":
        return { candidate, model, isTested: false };
      case "leave":
        return null;
    }
  }
}

/** Reads a key in a file, and sends nothing. Error codes: `config_invalid`. */
async function untested(
  cli: CliContext,
  chosen: Chosen,
): Promise<Chosen & { readonly isTested: false }> {
  await withCandidate(cli, chosen.candidate, { readsKey: false });
  return { ...chosen, isTested: false };
}

/** Null if the model answers. */
async function test(
  cli: CliContext,
  dialog: Dialog,
  { candidate, model }: Chosen,
): Promise<Error | null> {
  if (dialog.mayAsk) {
    dialog.say(`Testing ${oneLine(model)} with one short message …`);
  }
  try {
    const tried = await withCandidate(cli, candidate, { readsKey: true });
    const signal = AbortSignal.timeout(TEST_MS);
    await cli.tryModel({ ...tried, name: model, signal });
    return null;
  } catch (error) {
    if (isRepriseError(error)) {
      return error;
    }
    throw error;
  }
}

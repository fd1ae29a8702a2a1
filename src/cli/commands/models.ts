import { Command } from "commander";

import type { ModelInfo } from "../../core/schemas/service-schemas.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { aligned } from "../output/aligned.ts";
import { modelFactTexts, priceText } from "../output/model-facts.ts";
import { modelListFile, settingsOf } from "../process/config.ts";
import { type CliContext, note, printJson, printLines } from "../process/context.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

interface ModelsOptions {
  readonly provider?: string;
  readonly refresh?: true;
  readonly json?: true;
}

/** `models`: what can be named with `--model`, with what is known of it. */
export function modelsCommand(cli: CliContext): Command {
  return new Command("models")
    .description("list models with their context, their price for a million tokens, and their end")
    .option(
      "--provider <name>",
      "those of one provider; without it, of those with a key or address",
    )
    .option("--refresh", "ask the providers again; their lists are kept for an hour")
    .option("--json", "print a JSON array")
    .action((options: ModelsOptions) => list(cli, options));
}

/** Error codes: `invalid_usage`, `config_invalid`. */
async function list(cli: CliContext, { provider, refresh, json }: ModelsOptions): Promise<void> {
  const [{ configuredProviders }, { offeredModels }, { defaultModel }, { modelInfo }] =
    await Promise.all([
      import("../../rules/models/list-request.ts"),
      import("../../rules/models/offered.ts"),
      import("../../rules/models/config.ts"),
      import("../../rules/models/list.ts"),
    ]);
  const { models: config } = await settingsOf(cli).at(cli.cwd);
  if (provider !== undefined && !Object.hasOwn(config.providers, provider)) {
    const names = Object.keys(config.providers).join(", ");
    throw wrongUsage(`There is no provider of this name; the providers are ${names}.`);
  }
  const standard = defaultModel(config);
  const asked = provider === undefined ? configuredProviders(config, standard) : [provider];
  const { models, notes } = await offeredModels({
    config,
    providers: asked.filter((name) => name !== "demo"),
    file: modelListFile(cli),
    refresh: refresh === true,
  });
  const isListed = models.some(({ name }) => name === standard);
  const all =
    provider === undefined && !isListed ? [modelInfo(standard, config), ...models] : models;
  if (json === true) {
    printJson(cli, all);
  } else {
    printLines(cli, rowsOf(all));
  }
  for (const sentence of notes) {
    note(cli, oneLine(sentence));
  }
  if (asked.length === 0) {
    note(
      cli,
      "No provider has a key or an address. `reprise models --provider <name>` lists others.",
    );
  }
}

function rowsOf(models: readonly ModelInfo[]): string[] {
  const now = new Date();
  return aligned(
    models.map((info) => {
      const rest = modelFactTexts({ ...info, context_tokens: null, input_price: null }, now);
      return [
        oneLine(info.name),
        contextText(info),
        priceText(info) ?? "unknown price",
        rest.join(", "),
      ];
    }),
  );
}

function contextText({ context_tokens, is_assumed }: ModelInfo): string {
  const tokens = `${context_tokens?.toLocaleString("en") ?? ""} tokens`;
  return context_tokens === null ? "unknown context" : is_assumed ? `${tokens}, assumed` : tokens;
}

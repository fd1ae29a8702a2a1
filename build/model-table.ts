import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { run } from "./check/run.ts";

/*
 * Makes models/table.json of the data files of another program's package, which is packed and not installed:
 *
 *     npm run model-table
 */

const PACKAGE = "@earendil-works/pi-ai";
const VERSION = "1.5.2";
const DATA = "package/dist/providers/data";

/** Our names of providers, and the files of those names there. */
const FILES: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  openai: "openai",
  azure: "azure",
  deepseek: "deepseek",
  fireworks: "fireworks",
  gemini: "google",
  groq: "groq",
  mistral: "mistral",
  moonshot: "moonshotai",
  openrouter: "openrouter",
  together: "together",
  xai: "xai",
  zai: "zai",
};

/** A model as the package has it; prices are dollars per million tokens. */
interface Source {
  readonly id: string;
  readonly type?: string;
  readonly api: string;
  readonly reasoning: boolean;
  readonly input: readonly string[];
  readonly contextWindow: number;
  readonly maxTokens: number;
  readonly cost: Cost & {
    readonly tiers?: readonly (Cost & { readonly inputTokensAbove: number })[];
  };
  /** Null for a level that the model refuses. Those above `high` are there only if they are named. */
  readonly thinkingLevelMap?: Readonly<Record<string, string | null>>;
  readonly compat?: {
    readonly supportsReasoningEffort?: boolean;
    readonly forceAdaptiveThinking?: boolean;
  };
  /** Seconds that a write is kept. */
  readonly promptCache?: { readonly long?: number };
}

interface Cost {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

const HOUR_SECONDS = 3600;
const LEVELS = ["off", "low", "medium", "high", "xhigh", "max"];
const UNNAMED_LEVELS = ["off", "low", "medium", "high"];

/** The columns that `src/rules/models/table.ts` reads. */
function rowOf(model: Source): readonly unknown[] {
  const { contextWindow, maxTokens, input, reasoning, cost, promptCache } = model;
  const tiers = [{ ...cost, inputTokensAbove: 0 }, ...(cost.tiers ?? [])];
  // a price of 0 there is one that nobody entered
  const isKnown = cost.input > 0 && cost.output > 0;
  return [
    contextWindow,
    maxTokens,
    input.includes("image") ? 1 : 0,
    reasoning ? 1 : 0,
    effortsOf(model).join(" "),
    ...(isKnown ? tiers.map((tier) => tierOf(tier, promptCache?.long === HOUR_SECONDS)) : []),
  ];
}

function effortsOf({ api, reasoning, thinkingLevelMap: map = {}, compat = {} }: Source): string[] {
  // older models of Anthropic take a number of tokens instead
  const isSet =
    api === "anthropic-messages"
      ? compat.forceAdaptiveThinking === true
      : compat.supportsReasoningEffort !== false;
  return !reasoning || !isSet
    ? []
    : LEVELS.filter((level) =>
        level in map ? map[level] !== null : UNNAMED_LEVELS.includes(level),
      );
}

function tierOf(
  tier: Cost & { readonly inputTokensAbove: number },
  hasHour: boolean,
): readonly (number | null)[] {
  return [
    tier.inputTokensAbove,
    micros(tier.input),
    micros(tier.output),
    tier.cacheRead > 0 ? micros(tier.cacheRead) : null,
    tier.cacheWrite > 0 ? micros(tier.cacheWrite) : null,
    // https://platform.claude.com/docs/en/build-with-claude/prompt-caching: twice the price of input
    hasHour && tier.cacheWrite > 0 ? micros(tier.input * 2) : null,
  ];
}

/** Whole micro-dollars, without the error of a binary fraction. */
function micros(dollars: number): number {
  return Math.round(dollars * 1_000_000);
}

function readModels(folder: string, file: string): Record<string, readonly unknown[]> {
  const apis: unknown = JSON.parse(readFileSync(join(folder, DATA, `${file}.json`), "utf8"));
  const models = Object.values(apis as Record<string, Record<string, Source>>)
    .flatMap((byName) => Object.values(byName))
    .filter(({ type = "chat" }) => type === "chat")
    // names of one service that begin with ~ change their meaning
    .filter(({ id }) => !id.startsWith("~"));
  const rows = models.map((model): [string, readonly unknown[]] => [model.id, rowOf(model)]);
  return Object.fromEntries(rows.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function textOf(folder: string): string {
  const head = {
    about:
      "Facts about models, made by build/model-table.ts. docs/maintaining.md says when it is made again.",
    date: new Date().toISOString().slice(0, 10),
    source: `${PACKAGE} ${VERSION}, dist/providers/data/*.json`,
    licence: "MIT, by Mario Zechner: https://github.com/earendil-works/pi",
    columns:
      "context, output, images, reasoning, efforts, then the tiers of prices: [above so many tokens of input, input, output, cache_read, cache_write_5m, cache_write_1h] in micro-dollars per million tokens, null if unknown",
  };
  const models = Object.entries(FILES).map(([provider, file]) => {
    const rows = Object.entries(readModels(folder, file)).map(
      ([name, row]) => `      ${JSON.stringify(name)}: ${JSON.stringify(row)}`,
    );
    return `    ${JSON.stringify(provider)}: {\n${rows.join(",\n")}\n    }`;
  });
  const lines = Object.entries(head).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`,
  );
  return `{\n${lines.join("\n")}\n  "models": {\n${models.join(",\n")}\n  }\n}\n`;
}

const work = mkdtempSync(join(tmpdir(), "reprise-models-"));
const env = Object.fromEntries(
  Object.entries(process.env).map(([name, value = ""]) => [name, value]),
);
try {
  const name = `${PACKAGE.slice(1).replace("/", "-")}-${VERSION}.tgz`;
  run(["npm", "pack", "--pack-destination", work, `${PACKAGE}@${VERSION}`], { cwd: work, env });
  run(["tar", "-xzf", name, DATA], { cwd: work, env });
  writeFileSync(new URL("../models/table.json", import.meta.url), textOf(work));
} finally {
  rmSync(work, { recursive: true });
}

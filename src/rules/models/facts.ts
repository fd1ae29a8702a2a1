import { RepriseError } from "../../core/errors.ts";
import type { Effort } from "../../core/model-settings.ts";
import { parseModelName } from "./name.ts";
import type { PriceTier } from "./price.ts";
import { builtInProvider } from "./providers.ts";
import { entryOf, modelTable, type TableEntry } from "./table.ts";

/** What is known of a model. */
export interface ModelFacts {
  /** Tokens of the request and the answer at most. */
  readonly context: number;
  /** Tokens of one answer at most; null if unknown. */
  readonly output: number | null;
  /** Whether it reads images; null if unknown. */
  readonly images: boolean | null;
  readonly reasoning: boolean | null;
  /** How much reasoning can be asked for; empty if that is unknown or nothing can. */
  readonly efforts: readonly Effort[];
  /** By the size of the request, the smallest first; null if unknown. */
  readonly price: readonly PriceTier[] | null;
  /** Source of the price, as `price_table` of `CallRecord`. */
  readonly priceFrom: string | null;
  /** The last day on which its provider answers, `2026-12-11`; null if none is announced. */
  readonly ends: string | null;
  /** True if the context is `ASSUMED_TOKENS`, because nothing says what it is. */
  readonly assumed: boolean;
}

/** What the user's config says of a model; prices are dollars per million tokens. */
export interface ModelOverride {
  readonly context?: number;
  readonly output?: number;
  readonly price?: Readonly<Partial<Record<PriceName, number>>>;
  readonly images?: boolean;
  readonly reasoning?: boolean;
}
type PriceName = keyof Omit<PriceTier, "above">;

/** For models that nobody has written down: what current models take at least. */
const ASSUMED_TOKENS = 128_000;

/**
 * The context that Ollama is asked for. Its own default is a few thousand tokens, and it drops the oldest messages
 * above that without any message.
 */
const OLLAMA_CONTEXT_TOKENS = 16_384;

/** The demo keeps everything: nothing is ever summarised for it. */
const DEMO_TOKENS = 1_000_000;

/** A smaller context holds no prompt, summary and question. */
const MIN_TOKENS = 1000;

const UNKNOWN: ModelFacts = {
  context: ASSUMED_TOKENS,
  output: null,
  images: null,
  reasoning: null,
  efforts: [],
  price: null,
  priceFrom: null,
  ends: null,
  assumed: true,
};

/** Source of the price of models for which nobody pays. */
const NO_TABLE = "free";

const FREE: readonly PriceTier[] = [
  { above: 0, input: 0, output: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 },
];

const DEMO: ModelFacts = {
  ...UNKNOWN,
  context: DEMO_TOKENS,
  images: false,
  reasoning: false,
  price: FREE,
  priceFrom: NO_TABLE,
  assumed: false,
};

/** What follows the name of a model in that of one of its versions: a date, or `latest`. */
const VERSION = /^[-@](?:latest|\d{4}-?\d{2}-?\d{2}|\d{4,6})$/;

/** The part of `ModelConfig` that changes facts. */
interface FactsConfig {
  readonly overrides: Readonly<Record<string, ModelOverride>>;
  readonly contextTokens: string | null;
}

/**
 * Returns what is known of a model: of the table by its exact name, else by the longest name that it begins with, with
 * what the config says instead of it. A name that
 * is not a dated version of that one has neither its price nor its end.
 *
 * Error codes: `model_unknown` for an invalid name; `config_invalid` unless REPRISE_CONTEXT_TOKENS, if it is set, is
 * a whole number of 1,000 or more.
 */
export function modelFacts(name: string, config: FactsConfig): ModelFacts {
  const { provider, model } = parseModelName(name);
  const facts = overridden(factsOf(provider, model), config.overrides[`${provider}:${model}`]);
  return config.contextTokens === null
    ? facts
    : { ...facts, context: contextOf(config.contextTokens), assumed: false };
}

function factsOf(provider: string, model: string): ModelFacts {
  if (provider === "demo") {
    return DEMO;
  }
  if (provider === "ollama") {
    return {
      ...UNKNOWN,
      context: OLLAMA_CONTEXT_TOKENS,
      price: FREE,
      priceFrom: NO_TABLE,
      assumed: false,
    };
  }
  const { models, date } = modelTable();
  const table = builtInProvider(provider)?.table ?? provider;
  const known = Object.hasOwn(models, table) ? (models[table] ?? {}) : {};
  const found = closest(Object.keys(known), model);
  const row = found === null ? undefined : known[found];
  const entry: ModelFacts | null =
    row === undefined ? null : { ...withSource(entryOf(row), date), ends: null, assumed: false };
  const isSame = found === model || (found !== null && VERSION.test(model.slice(found.length)));
  return {
    ...(entry === null ? UNKNOWN : isSame ? entry : { ...entry, price: null, priceFrom: null }),
    ends: endOf(provider, model),
  };
}

function withSource(entry: TableEntry, date: string) {
  return { ...entry, priceFrom: entry.price === null ? null : date };
}

/** The name itself, else the longest one that it continues with another word. */
function closest(names: readonly string[], model: string): string | null {
  const starts = names.filter(
    (name) => model === name || (model.startsWith(name) && /^[-@:]/.test(model.slice(name.length))),
  );
  return starts.toSorted((a, b) => b.length - a.length)[0] ?? null;
}

function endOf(provider: string, model: string): string | null {
  const { ends } = modelTable();
  const name = `${provider}:${model}`;
  const version = Object.keys(ends).find(
    (each) => name === each || (name.startsWith(each) && VERSION.test(name.slice(each.length))),
  );
  return version === undefined ? null : (ends[version] ?? null);
}

function overridden(facts: ModelFacts, override: ModelOverride | undefined): ModelFacts {
  if (override === undefined) {
    return facts;
  }
  const { price, ...rest } = override;
  const tiers = price === undefined ? facts.price : overriddenPrice(facts.price, price);
  return {
    ...facts,
    ...rest,
    price: tiers,
    priceFrom: price === undefined ? facts.priceFrom : tiers === null ? null : "config",
    efforts: override.reasoning === false ? [] : facts.efforts,
    assumed: facts.assumed && override.context === undefined,
  };
}

/** A price counts for requests of every size. */
function overriddenPrice(
  tiers: readonly PriceTier[] | null,
  price: NonNullable<ModelOverride["price"]>,
): readonly PriceTier[] | null {
  const micros = Object.fromEntries(
    Object.entries(price).map(([name, dollars]) => [name, Math.round(dollars * 1_000_000)]),
  );
  if (tiers !== null) {
    return tiers.map((tier) => ({ ...tier, ...micros }));
  }
  const { input, output, cache_read = null, cache_write_5m = null, cache_write_1h = null } = micros;
  return input === undefined || output === undefined
    ? null
    : [{ above: 0, input, output, cache_read, cache_write_5m, cache_write_1h }];
}

function contextOf(text: string): number {
  const tokens = Number(text);
  if (Number.isSafeInteger(tokens) && tokens >= MIN_TOKENS) {
    return tokens;
  }
  throw new RepriseError(
    "config_invalid",
    `REPRISE_CONTEXT_TOKENS must be a whole number of ${MIN_TOKENS} or more; correct or unset it.`,
  );
}

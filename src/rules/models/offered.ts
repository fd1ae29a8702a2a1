import type { ModelInfo } from "../../core/schemas/service-schemas.ts";
import { askList, type ListedModel } from "./ask-list.ts";
import { hasKey, type ModelConfig, withKey } from "./config.ts";
import { type KeptLists, freshList, keepLists, keptList, readKeptLists } from "./kept-lists.ts";
import { modelInfo, tableNames } from "./list.ts";
import { listRequest } from "./list-request.ts";
import { builtInProvider, providerLabel } from "./providers.ts";

export interface OfferedInput {
  readonly config: ModelConfig;
  /** Names of the providers. */
  readonly providers: readonly string[];
  /** Keeps the lists of providers for an hour; null to ask each time. */
  readonly file: string | null;
  /** Asks also if a list is kept. */
  readonly refresh: boolean;
}

/** Models of some providers, and sentences about providers that gave no list. */
export interface Offered {
  readonly models: readonly ModelInfo[];
  readonly notes: readonly string[];
}

/**
 * Asks providers for their lists, or takes those that are kept, and adds what the table knows. Of a provider without a
 * list, the models of the table are offered. A key that cannot be read counts as none.
 */
export async function offeredModels(input: OfferedInput): Promise<Offered> {
  const kept = await readKeptLists(input.file);
  const asked = await Promise.all(input.providers.map((name) => listOf(name, input, kept)));
  const newLists = asked.flatMap(({ name, url, list, isNew }) =>
    isNew && url !== null && typeof list === "object"
      ? [[name, keptList(url, list, Date.now())] as const]
      : [],
  );
  if (newLists.length > 0) {
    await keepLists(input.file, { ...kept, ...Object.fromEntries(newLists) });
  }
  return {
    models: asked.flatMap(({ name, list }) =>
      typeof list === "string"
        ? tableNames(name).map((each) => modelInfo(each, input.config))
        : listedInfos(name, list, input.config),
    ),
    notes: asked.flatMap(({ name, list }) =>
      typeof list === "string"
        ? [`${providerLabel(name)} ${list}; its models are those of the table.`]
        : [],
    ),
  };
}

interface AskedList {
  readonly name: string;
  readonly url: string | null;
  readonly list: readonly ListedModel[] | string;
  readonly isNew: boolean;
}

async function listOf(
  name: string,
  { config, refresh }: OfferedInput,
  kept: KeptLists,
): Promise<AskedList> {
  const given = config.providers[name];
  const address = given === undefined ? null : listRequest(name, given);
  if (given === undefined || address === null) {
    return { name, url: null, list: "has no address", isNew: false };
  }
  if (!hasKey(given) && given.baseUrl === null && builtInProvider(name)?.isKeyless !== true) {
    return { name, url: null, list: "has no key", isNew: false };
  }
  const { url } = address;
  const fresh = refresh ? null : freshList(kept, { name, url, now: Date.now() });
  if (fresh !== null) {
    return { name, url, list: fresh, isNew: false };
  }
  const keyed = await withKey(config, name).catch(() => config);
  const request = listRequest(name, keyed.providers[name] ?? given) ?? address;
  return { name, url, list: await askList(request), isNew: true };
}

/** First those that the table knows: a list names models for other purposes, too. */
function listedInfos(
  provider: string,
  list: readonly ListedModel[],
  config: ModelConfig,
): readonly ModelInfo[] {
  const infos = list.map(({ model, context, ends }) => {
    const info = modelInfo(`${provider}:${model}`, config);
    return {
      ...info,
      ...(info.is_assumed && context !== null
        ? { context_tokens: context, is_assumed: false }
        : {}),
      ends: info.ends ?? ends,
    };
  });
  const isKnown = ({ is_assumed }: ModelInfo): boolean => !is_assumed;
  return [...infos.filter(isKnown), ...infos.filter((info) => !isKnown(info))];
}

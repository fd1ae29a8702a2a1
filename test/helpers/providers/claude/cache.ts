import { digest } from "../seals.ts";
import { tokensIn } from "../rules.ts";
import type { Dropped, InputUsage, Usage } from "../server.ts";
import { claudeModel, smallestCached } from "./models.ts";
import { blocksOf, type CacheMark, canonical, type MessagesBody, type Placed } from "./request.ts";

/** Blocks before a mark among which an entry is found: prompt-caching, 2026-11-23. */
const LOOKBACK = 20;

const LIFE_MS = { "5m": 5 * 60_000, "1h": 60 * 60_000 };

type Life = keyof typeof LIFE_MS;

interface Entry {
  readonly life: Life;
  expires: number;
}

/** Claude's prompt cache: entries at the ends of marked blocks, each of which is used again only with an equal prefix. */
export class PromptCache {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts a request's tokens, and keeps what it marks. */
  read(body: MessagesBody, dropped: readonly Dropped[]): InputUsage {
    const left = new Set(dropped.map(({ path }) => path));
    const placed = blocksOf(body).filter(({ path }) => !left.has(path));
    const ends = endsOf(body, placed);
    const total = ends.at(-1)?.tokens ?? 0;
    const marks = marksIn(body, placed);
    const found = this.#find(ends, marks);
    const read = found === null ? 0 : (ends[found]?.tokens ?? 0);
    const smallest = smallestCached(claudeModel(body.model));
    let [written, cacheWrite1h] = [read, 0];
    for (const { at, life } of marks) {
      const end = ends[at];
      if (end === undefined || end.tokens < smallest || at <= (found ?? -1)) {
        continue;
      }
      cacheWrite1h += life === "1h" ? end.tokens - written : 0;
      written = end.tokens;
      this.#entries.set(end.key, { life, expires: this.#now() + LIFE_MS[life] });
    }
    return {
      input: total - written,
      cacheRead: read,
      cacheWrite5m: written - read - cacheWrite1h,
      cacheWrite1h,
    };
  }

  /** The last block up to which the cache has the prompt. */
  #find(ends: readonly End[], marks: readonly Mark[]): number | null {
    for (const { at } of marks.toReversed()) {
      for (let from = at; from >= Math.max(0, at - LOOKBACK); from -= 1) {
        const entry = this.#entries.get(ends[from]?.key ?? "");
        if (entry !== undefined && entry.expires > this.#now()) {
          entry.expires = this.#now() + LIFE_MS[entry.life];
          return from;
        }
      }
    }
    return null;
  }
}

/** The prompt up to the end of a block. */
interface End {
  readonly key: string;
  readonly tokens: number;
}

/** Effort, thinking and the choice of a tool are a part of what comes before the messages. */
function endsOf(body: MessagesBody, placed: readonly Placed[]): End[] {
  const settings = JSON.stringify([
    body.output_config?.effort,
    body.thinking?.type,
    body.tool_choice,
  ]);
  let [key, characters] = [digest(body.model), 0];
  return placed.map((one, index) => {
    const isFirst = one.in === "messages" && placed[index - 1]?.in !== "messages";
    const text = canonical(one.block);
    key = digest(key, one.role, text, isFirst ? settings : "");
    characters += text.length;
    return { key, tokens: Math.ceil(characters / 3.6) };
  });
}

interface Mark {
  /** Index of the block. */
  readonly at: number;
  readonly life: Life;
}

function marksIn({ cache_control }: MessagesBody, placed: readonly Placed[]): Mark[] {
  const marks = placed.flatMap(({ block }, at): Mark[] => {
    const mark = markOf(block);
    return mark === undefined ? [] : [{ at, life: lifeOf(mark) }];
  });
  return cache_control === undefined
    ? marks
    : [...marks, { at: placed.length - 1, life: lifeOf(cache_control) }];
}

export function markOf(block: Readonly<Record<string, unknown>>): CacheMark | undefined {
  return (block["cache_control"] as CacheMark | null | undefined) ?? undefined;
}

export function lifeOf({ ttl }: CacheMark): Life {
  return ttl === "1h" ? "1h" : "5m";
}

export function outputUsage(
  output: string,
  reasoning: string,
): Pick<Usage, "output" | "reasoning"> {
  return { output: tokensIn(output + reasoning), reasoning: tokensIn(reasoning) };
}

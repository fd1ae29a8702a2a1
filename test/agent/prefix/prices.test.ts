import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import type { CacheLife } from "../../../src/core/model-settings.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { contentOf, type MessagesBody } from "../../helpers/providers/claude/request.ts";
import { type Cost, costOf, PRICES } from "../../helpers/providers/prices.ts";
import type { Script } from "../../helpers/providers/server.ts";
import { call, reasoning, text } from "../../helpers/providers/steps.ts";
import { sampleOf, seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { openBound } from "./bound-bench.ts";
import { isSummaryRequest } from "./requests.ts";

const EXCHANGES = 20;
const MINUTE = 60_000;
/** Characters of a file that a call reads. */
const FILE = "A line of a file that the agent reads.\n".repeat(100);

/** Sessions whose price is kept in prices.json, in micro-dollars of the mock's prices. */
interface Priced {
  readonly model: keyof typeof PRICES;
  /** Calls of one exchange, and how many come in one answer. */
  readonly calls: number;
  readonly together: number;
  /** Minutes between two exchanges. */
  readonly pause?: number;
  readonly cache?: CacheLife;
  readonly compacts?: boolean;
}

const SONNET = { model: "claude-sonnet-5", calls: 6, together: 1 } as const;
const PARALLEL = { ...SONNET, calls: 12, together: 12 } as const;

/** The first two take the least time: `npm test` runs these. */
const SESSIONS: Readonly<Record<string, Priced>> = {
  "20 exchanges of 12 parallel calls": PARALLEL,
  "20 exchanges of 12 parallel calls, without the cache": { ...PARALLEL, cache: "off" },
  "a summary in the middle": { ...SONNET, compacts: true },
  "20 exchanges of 6 calls": SONNET,
  "20 exchanges of 6 calls, without the cache": { ...SONNET, cache: "off" },
  "pauses of 4 minutes": { ...SONNET, pause: 4 },
  "pauses of 10 minutes": { ...SONNET, pause: 10 },
  "pauses of 10 minutes, kept for an hour": { ...SONNET, pause: 10, cache: "1h" },
  "pauses of 70 minutes": { ...SONNET, pause: 70 },
};

async function priceOf(session: Priced): Promise<Cost> {
  const { model, calls, together, pause = 0, cache = "5m", compacts = false } = session;
  const bench = await openBound(readingScript(calls, together), { model });
  const { provider, parts, repo } = bench;
  writeFileSync(join(repo, "a.txt"), FILE);
  const exchanger = createExchanger(parts);
  const live = { listener: () => undefined, signal: new AbortController().signal };
  const { id } = await bench.store.write(createSession, { repo_path: repo, cache });
  for (let number = 1; number <= EXCHANGES; number += 1) {
    if (compacts && number === EXCHANGES / 2) {
      await exchanger.compact({ session_id: id }, { signal: live.signal });
    }
    const { state } = await exchanger.exchange(
      { session_id: id, text: `exchange ${number}` },
      live,
    );
    expect(state).toBe("done");
    provider.advance(pause * MINUTE);
  }
  expect(provider.refusals()).toEqual([]);
  return costOf(provider.received, PRICES[model]!);
}

/** The model calls `read_file` so often in each exchange, so many in one answer. */
function readingScript(calls: number, together: number): Script {
  return (_index, body) => {
    if (isSummaryRequest(body)) {
      return [text("The user wants files to be read.")];
    }
    const { messages } = JSON.parse(body) as MessagesBody;
    const from = messages.findLastIndex(({ content }) =>
      contentOf(content).some(({ text: words }) => String(words).startsWith("exchange ")),
    );
    const results = messages
      .slice(from + 1)
      .flatMap(({ content }) => contentOf(content))
      .filter(({ type }) => type === "tool_result");
    return results.length >= calls
      ? [reasoning("I have read them."), text("All files are read.")]
      : [
          reasoning("I read on."),
          ...Array.from({ length: together }, () => call("read_file", { path: "a.txt" })),
        ];
  };
}

const KEPT = JSON.parse(readFileSync(new URL("prices.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Cost>
>;

it("[PREFIX-7] the prices of sessions stay within 2 % of those that are kept", async () => {
  const prices: Record<string, Cost> = {};
  const [first, second, ...others] = Object.entries(SESSIONS);
  const some = sampleOf(others, testSize("prices") - 2, seededRandom("prices"));
  for (const [name, session] of [first!, second!, ...some]) {
    prices[name] = await priceOf(session);
  }
  console.log(`prices: ${JSON.stringify(prices)}`);
  for (const [name, { micros }] of Object.entries(prices)) {
    expect(micros / (KEPT[name]?.micros ?? 0), name).toBeGreaterThan(0.98);
    expect(micros / (KEPT[name]?.micros ?? 0), name).toBeLessThan(1.02);
  }
  for (const [name, most] of [
    ["20 exchanges of 12 parallel calls", 0.17],
    ["20 exchanges of 6 calls", 0.13],
  ] as const) {
    const [cached, without] = [prices[name], prices[`${name}, without the cache`]];
    if (cached !== undefined && without !== undefined) {
      expect(cached.micros / without.micros, name).toBeLessThan(most);
    }
  }
});

import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createExchanger } from "../src/agent/exchange.ts";
import type { AgentOptions } from "../src/agent/exchange-context.ts";
import type { Exchanger } from "../src/exchange/exchanger.ts";
import { modelConfig } from "../src/rules/models/config.ts";
import { thisProcess } from "../src/store/records/leases/this-process.ts";
import { createSession } from "../src/store/records/sessions/create.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import type { Store } from "../src/store/store.ts";
import { fill } from "./fill-thread.ts";
import { InstantModel } from "./instant-model.ts";
import { answerOf, fileOf, fileText, MESSAGE_BYTES, questionOf, RESULT_BYTES } from "./texts.ts";
import { TRUSTED } from "../test/helpers/trust.ts";

/** Exchanges after a start. */
const STARTS = 5;

/** What a session of many exchanges took. */
export interface Course {
  /** Milliseconds of processor time of each exchange, in order. */
  readonly times: readonly number[];
  /** The same of some more, each with an exchanger and a store that know nothing of the session yet. */
  readonly afresh: readonly number[];
  /** The whole database with the mirror, closed. */
  readonly bytes: number;
  /** Of the questions, answers and tool results that the database holds. */
  readonly textBytes: number;
}

/**
 * Runs a session's exchanges, each with `rounds` calls of the real `read_file`, on SQLite
 * with a model that answers at once.
 */
export async function courseOf(input: {
  readonly exchanges: number;
  readonly rounds: number;
  /** Exchanges that the session has before, put there at once. */
  readonly filled?: number;
}): Promise<Course> {
  const folder = mkdtempSync(join(tmpdir(), "reprise-bench-"));
  const repo = join(folder, "repo");
  const path = join(folder, "bench.db");
  mkdirSync(repo);
  try {
    const ask = (exchange: Exchange, index: number) => timed({ ...input, repo, exchange, index });
    const { id, times } = await onStore(path, async (store) => {
      const { id } = await store.write(createSession, { repo_path: repo });
      await fill(store, { session_id: id, exchanges: input.filled ?? 0, rounds: input.rounds });
      const exchange = exchangeIn(store, { id, rounds: input.rounds });
      const times: number[] = [];
      for (let index = 0; index < input.exchanges; index += 1) {
        times.push(await ask(exchange, index));
      }
      return { id, times };
    });
    const bytes = statSync(path).size;
    const afresh: number[] = [];
    while (afresh.length < STARTS) {
      const index = input.exchanges + afresh.length;
      afresh.push(
        await onStore(path, (store) => ask(exchangeIn(store, { id, rounds: input.rounds }), index)),
      );
    }
    const textBytes = input.exchanges * (2 * MESSAGE_BYTES + input.rounds * RESULT_BYTES);
    return { times, afresh, bytes, textBytes };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Sessions on a separate SQLite file: each call begins one and gives what asks in it. */
export async function withSessions<Result>(
  work: (begin: () => Promise<Exchange>) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "reprise-bench-"));
  try {
    return await onStore(join(folder, "bench.db"), async (store) => {
      const exchanger = exchangerOn(store);
      return work(async () => {
        const { id } = await store.write(createSession, { repo_path: folder });
        return exchangeWith(exchanger, id);
      });
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function onStore<Result>(
  path: string,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openSqliteStore({ path });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** How the exchanges of a session run. */
interface ExchangeOptions {
  /** Calls of a tool, one after the other. */
  readonly rounds?: number;
  /** Tokens that the model reads: the one that Reprise takes with nothing but a key reads a million. */
  readonly contextTokens?: number;
}

/** Runs exchanges on a model that answers at once. */
export function exchangerOn(store: Store, options: ExchangeOptions = {}): Exchanger {
  return createExchanger(agentOn(store, options));
}

type Exchange = (text: string) => Promise<unknown>;

function exchangeIn(store: Store, input: { id: string; rounds: number }): Exchange {
  return exchangeWith(exchangerOn(store, input), input.id);
}

function exchangeWith(exchanger: Exchanger, session_id: string): Exchange {
  const live = { listener: () => undefined, signal: new AbortController().signal };
  return (text) => exchanger.exchange({ session_id, text }, live);
}

/** Makes an agent on such a model. */
export function agentOn(
  store: Store,
  { rounds = 0, contextTokens }: ExchangeOptions = {},
): AgentOptions {
  return {
    store,
    models: modelConfig({
      ANTHROPIC_API_KEY: "none",
      REPRISE_CONTEXT_TOKENS: contextTokens?.toString(),
    }),
    personas: {
      userDir: null,
      builtinDir: fileURLToPath(new URL("../personas", import.meta.url)),
      trust: TRUSTED,
    },
    protectedPaths: [store.location],
    owner: thisProcess("bench"),
    openModel: () => Promise.resolve(new InstantModel((messages) => answerOf(messages, rounds))),
  };
}

/**
 * Milliseconds that the processor worked, for us, the libraries and the engine. What the disk takes
 * is the same for every exchange and differs from one moment to the next.
 */
export async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

async function timed(input: {
  readonly repo: string;
  readonly rounds: number;
  readonly exchange: Exchange;
  readonly index: number;
}): Promise<number> {
  for (let round = 0; round < input.rounds; round += 1) {
    const text = fileText(`exchange ${input.index}, round ${round}`);
    writeFileSync(join(input.repo, fileOf(round)), text);
  }
  return processorTime(() => input.exchange(questionOf(input.index)));
}

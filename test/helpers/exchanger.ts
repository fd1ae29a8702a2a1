import { fileURLToPath } from "node:url";

import { onTestFinished } from "vitest";

import { createExchanger } from "../../src/agent/exchange.ts";
import type { ExchangeEvent, ExchangeResult } from "../../src/exchange/events.ts";
import type { ExchangeRequest, Live } from "../../src/exchange/exchanger.ts";
import type { AgentOptions } from "../../src/agent/exchange-context.ts";
import { modelConfig } from "../../src/rules/models/config.ts";
import { thisProcess } from "../../src/store/records/leases/this-process.ts";
import type { Session } from "../../src/core/sessions.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import type { Store } from "../../src/store/store.ts";
import { createDatabase } from "./database.ts";
import type { ModelServer } from "./model-server.ts";
import { openStoreAt } from "./open-store.ts";
import { temporaryFolder } from "./temp.ts";
import { TRUSTED } from "./trust.ts";

export interface Bench {
  readonly store: Store;
  readonly database: string;
  readonly repo: string;
  readonly session: Session;
  readonly parts: AgentOptions;
  /** Everything that the listener heard, over all exchanges. */
  readonly events: ExchangeEvent[];
  /** The answer is empty for an exchange that waits. */
  run(
    request?: Partial<ExchangeRequest>,
    live?: Partial<Live>,
  ): Promise<ExchangeResult & { readonly answer: string }>;
}

/** An agent with the built-in personas; without an environment, the demo answers. */
export function agentOptions(
  store: Store,
  env: Readonly<Record<string, string>> = {},
): AgentOptions {
  return {
    store,
    models: modelConfig(env),
    personas: {
      userDir: null,
      builtinDir: fileURLToPath(new URL("../../personas", import.meta.url)),
      trust: TRUSTED,
    },
    protectedPaths: [],
    owner: thisProcess("test"),
  };
}

/**
 * Parts of an exchange whose statements are counted: it sends none by the clock, for its lease or to hear of a stop. On a
 * slow machine those would count.
 */
export const SENDS_NOTHING_BY_CLOCK = { leaseMs: 3_600_000, stopPollMs: 3_600_000 };

/** A session in an empty folder, on a real database, with an exchanger on a loopback model server. */
export async function openBench(
  server: Pick<ModelServer, "env">,
  env: Readonly<Record<string, string>> = {},
  changed: Partial<AgentOptions> | ((store: Store) => Partial<AgentOptions>) = {},
): Promise<Bench> {
  const empty = await createDatabase();
  onTestFinished(() => empty[Symbol.asyncDispose]());
  const database = empty.location;
  const repo = temporaryFolder();
  const store = await openStoreAt(database);
  onTestFinished(() => store.close());
  const parts: AgentOptions = {
    ...agentOptions(store, {
      ...server.env("openai"),
      REPRISE_MODEL: "openai:gpt-test",
      ...env,
    }),
    protectedPaths: [database],
    ...(typeof changed === "function" ? changed(store) : changed),
  };
  const exchanger = createExchanger(parts);
  // most tests are about something else than permissions
  const session = await store.write(createSession, { repo_path: repo, permission: "all" });
  const events: ExchangeEvent[] = [];
  return {
    store,
    database,
    repo,
    session,
    parts,
    events,
    run: async (request = {}, live = {}) => ({
      answer: "",
      ...(await exchanger.exchange(
        { session_id: session.id, text: null, ...request },
        { listener: (event) => events.push(event), signal: new AbortController().signal, ...live },
      )),
    }),
  };
}

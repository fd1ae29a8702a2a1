import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { onTestFinished } from "vitest";

import { createRunExchanger } from "../../src/agent/plans/run-exchanger.ts";
import type { AgentOptions } from "../../src/agent/exchange-context.ts";
import type { Phase, PhasePlan } from "../../src/artifacts/plans/phase-plan.ts";
import type { PhaseState, PlanChecks, RunOptions } from "../../src/core/plan-runs.ts";
import type { QuestionRecord, Session } from "../../src/core/sessions.ts";
import type { ExchangeResult } from "../../src/exchange/events.ts";
import type { ExchangeRequest } from "../../src/exchange/exchanger.ts";
import { modelConfig } from "../../src/rules/models/config.ts";
import { readCurrentExchange } from "../../src/store/records/exchanges/current.ts";
import { createRun } from "../../src/store/records/plans/create-run.ts";
import { readRun } from "../../src/store/records/plans/read-runs.ts";
import { answerQuestion } from "../../src/store/records/questions/answer.ts";
import type { Store } from "../../src/store/store.ts";
import type { TestDatabase } from "./engines.ts";
import { agentOptions } from "./exchanger.ts";
import type { ModelAnswer, ModelServer, SentMessage } from "./model-server.ts";
import { temporaryFolder } from "./temp.ts";

/** A phase for a plan of a test. */
export function phase(key: string, depends_on: readonly string[] = [], role = "assistant"): Phase {
  return {
    key,
    title: `Title of ${key}`,
    role,
    instructions: `Do the work of ${key}.`,
    ...(depends_on.length === 0 ? {} : { depends_on }),
  };
}

/** A schema of a project, for artifacts. */
const REPORT = {
  $id: "team/report@1",
  type: "object",
  required: ["title"],
  properties: { title: { type: "string" } },
  additionalProperties: false,
};

/** A persona that writes no files and asks people. */
const ASKER = `---
name: asker
description: Asks.
tools: [list_files, ask_user]
---

You ask.
`;

/** A folder with the schema of a report, and the persona `asker`. */
export function reportFolder(): string {
  const repo = temporaryFolder();
  mkdirSync(join(repo, ".reprise/personas"), { recursive: true });
  writeFileSync(join(repo, ".reprise/personas/asker.md"), ASKER);
  mkdirSync(join(repo, ".reprise/schemas"), { recursive: true });
  writeFileSync(join(repo, ".reprise/schemas/report.json"), JSON.stringify(REPORT));
  return repo;
}

/** A phase that leaves a report, by a persona that writes no files. */
export function reporting(key: string, path: string, depends_on: readonly string[] = []): Phase {
  return { ...phase(key, depends_on, "reviewer"), expected_artifact: { path, schema: REPORT.$id } };
}

/** An answer that hands in an artifact. */
export function handingIn(content: string): ModelAnswer {
  return { toolCalls: [{ name: "hand_in", arguments: JSON.stringify({ content }) }] };
}

/** Design, two phases that depend on it, and one that depends on both. */
export const DIAMOND = [
  phase("design"),
  phase("build", ["design"]),
  phase("docs", ["design"], "reviewer"),
  phase("check", ["build", "docs"], "reviewer"),
];

/** Key of the phase that a request is about; null for another request. */
export function phaseIn(messages: readonly SentMessage[]): string | null {
  const first = messages.find(({ role }) => role === "user");
  return /\nThis is phase ([a-z0-9-]+) of a plan\./.exec(first?.content ?? "")?.[1] ?? null;
}

export interface NewRun {
  readonly store: Store;
  readonly repo?: string;
  readonly phases: readonly Phase[];
  readonly options?: Partial<RunOptions>;
  readonly runId?: string;
  readonly again?: boolean;
  readonly checks?: PlanChecks | null;
}

/** Stores a run as `plan run` does. */
export function storeRun({
  store,
  phases,
  options,
  again,
  checks = null,
  ...run
}: NewRun): Promise<Session> {
  const runId = run.runId ?? crypto.randomUUID();
  const plan: PhasePlan = { runId, phaseKey: "planning", phases };
  return store.write(createRun, {
    session: {
      repo_path: run.repo ?? temporaryFolder(),
      model: "openai:gpt-test",
      permission: "all",
    },
    run_id: runId,
    plan: JSON.stringify(plan),
    keys: phases.map(({ key }) => key),
    path: null,
    checks,
    options: { parallel: 1, retries: 0, approve: [], ...options },
    request: "Run the plan.",
    again: again === true,
  });
}

export interface GivenApproval {
  readonly choice?: string;
  readonly text?: string;
  readonly note?: string;
}

/** Answers a question of a run, which a node or another process then continues. */
export function answerRun(
  store: Store,
  { id, session_id }: Pick<QuestionRecord, "id" | "session_id">,
  { choice, text = "", note }: GivenApproval,
): Promise<QuestionRecord> {
  return store.write(answerQuestion, {
    reference: session_id,
    question: id,
    given: choice === undefined ? { text } : { choice },
    note: note ?? null,
    answered_by: "terminal",
  });
}

/** A database with runs, and what runs them with a model server. */
export class PlanBench {
  readonly store: Store;
  readonly #env: Readonly<Record<string, string>>;

  readonly #options: Partial<AgentOptions>;

  static async open(
    database: TestDatabase,
    server: Pick<ModelServer, "env">,
    options: Partial<AgentOptions> = {},
  ): Promise<PlanBench> {
    return new PlanBench(await database.open(), server.env("openai"), options);
  }

  constructor(
    store: Store,
    env: Readonly<Record<string, string>>,
    options: Partial<AgentOptions> = {},
  ) {
    this.store = store;
    this.#env = env;
    this.#options = options;
  }

  /** Runs the runs of another database in the same way. */
  at(store: Store): PlanBench {
    return new PlanBench(store, this.#env, this.#options);
  }

  /** Runs a run, or continues it. */
  run(session_id: string, stop = new AbortController()): Promise<ExchangeResult> {
    onTestFinished(() => stop.abort());
    return this.#exchange({ session_id, text: null }, stop.signal);
  }

  /** Runs the exchange of a run that is queued, as a node does. */
  async runQueued(session_id: string): Promise<ExchangeResult> {
    const record = await this.store.read(readCurrentExchange, { session_id });
    const { n, revision } = record ?? { n: 0, revision: 0 };
    const request = { session_id, text: null, claim: { n, revision } };
    return this.#exchange(request, new AbortController().signal);
  }

  /** Sends a message to its session, as a terminal does. */
  send(session_id: string, text: string): Promise<ExchangeResult> {
    return this.#exchange({ session_id, text }, new AbortController().signal);
  }

  #exchange(request: ExchangeRequest, signal: AbortSignal): Promise<ExchangeResult> {
    const models = {
      ...modelConfig({ ...this.#env, REPRISE_MODEL: "openai:gpt-test" }),
      retries: 0,
    };
    const exchanger = createRunExchanger({ ...agentOptions(this.store), models, ...this.#options });
    return exchanger.exchange(request, { listener: () => {}, signal });
  }

  async states(reference: string): Promise<Readonly<Record<string, PhaseState>>> {
    const { phases } = await this.store.read(readRun, { reference });
    return Object.fromEntries(phases.map(({ key, state }) => [key, state]));
  }
}

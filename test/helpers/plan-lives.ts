import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import type { PlanChecks } from "../../src/core/plan-runs.ts";
import { readRun } from "../../src/store/records/plans/read-runs.ts";
import { retryPhases } from "../../src/store/records/plans/retry.ts";
import { listOpenQuestions } from "../../src/store/records/questions/read.ts";
import { listSessions } from "../../src/store/records/sessions/list.ts";
import type { Session } from "../../src/core/sessions.ts";
import type { Store } from "../../src/store/store.ts";
import { verifySession } from "../../src/store/verify/verify-session.ts";
import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import type { TestDatabase } from "./engines.ts";
import {
  type ModelAnswer,
  type ModelServer,
  type SentMessage,
  startModelServer,
} from "./model-server.ts";
import {
  answerRun,
  handingIn,
  phase,
  phaseIn,
  reportFolder,
  reporting,
  storeRun,
} from "./plan-bench.ts";
import type { Running } from "./process.ts";
import { startProgram } from "./start-program.ts";
import { temporaryFolder } from "./temp.ts";

/** Writes of a run at which `plan-lives.ts` kills itself. */
export const LIFE_POINTS = [
  "ask",
  "decide",
  "begin",
  "child",
  "file",
  "written",
  "hash",
  "checked",
  "answered",
  "asked",
  "end",
  "park",
  "report",
] as const;
export type LifePoint = (typeof LIFE_POINTS)[number];

/** End of a process: at the `nth` such write of its life, from 1. */
export interface LifeEnd {
  readonly point: LifePoint;
  readonly nth: number;
  readonly when: "before" | "within" | "after";
}

const { bubblewrap } = await createSandboxProbe()();
/** False on a machine without a sandbox: the run has no checks there. */
export const hasSandbox = bubblewrap !== null;

/** Every transition of a phase: an artifact that is forgotten and then wrong, checks, a retry, a failure, a refusal, a question. */
const PHASES = [
  reporting("design", "out/design.json"),
  phase("ask", ["design"]),
  phase("build", ["design"]),
  phase("docs", ["design"], "reviewer"),
  phase("lint", ["design"], "reviewer"),
  phase("ship", ["build"], "reviewer"),
  phase("summary", ["ask", "docs", "lint", "ship"], "reviewer"),
];

const CHECKS: PlanChecks = {
  phases: {
    build: {
      checks: [["/bin/sh", "-c", "sha256sum out/design.json >> checked; cat built; test -f right"]],
    },
  },
};

/** Messages that the sub-agent of each phase's last attempt has got, with checks and without. */
const PROMPTS: Readonly<Record<string, number>> = {
  design: 2,
  ask: 1,
  build: hasSandbox ? 2 : 1,
  docs: 1,
  lint: 1,
  ship: 1,
  summary: 1,
};

function writing(path: string): ModelAnswer {
  return {
    toolCalls: [{ name: "write_file", arguments: JSON.stringify({ path, content: path }) }],
  };
}

/** Starts a process that runs the run of a session in a database, and keeps what it needs in a folder. */
export async function startLives(
  server: Pick<ModelServer, "env">,
  [location, session_id, folder]: readonly [string, string, string],
): Promise<Running> {
  const running = startProgram("plan-lives.ts", [location, session_id, folder], {
    env: { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" },
  });
  await running.waitFor(/^ready$/m);
  return running;
}

/** A run whose processes are killed, and the people of it. */
export class PlanLives {
  readonly store: Store;
  readonly id: string;
  readonly repo: string;
  /** Folder of what is kept for undoing. */
  readonly kept: string;
  readonly #location: string;
  readonly #folder: string;
  readonly #server: ModelServer;
  readonly #setup: { fails: boolean };
  #running: Running | null = null;
  #refused = false;

  static async open(database: TestDatabase): Promise<PlanLives> {
    const store = await database.open();
    const setup = { fails: true };
    const server = await startModelServer({
      chunkSize: 100_000,
      answer: (messages) => answerOf(messages, setup),
    });
    const outside = temporaryFolder();
    const repo = reportFolder();
    const folder = join(outside, "kept");
    mkdirSync(folder);
    const session = await storeRun({
      store,
      repo,
      phases: PHASES,
      options: { approve: ["build", "ship"], retries: 1 },
      checks: hasSandbox ? CHECKS : null,
    });
    return new PlanLives({ store, session, repo, folder, server, setup, database });
  }

  private constructor(given: {
    readonly store: Store;
    readonly session: Session;
    readonly repo: string;
    readonly folder: string;
    readonly server: ModelServer;
    readonly setup: { fails: boolean };
    readonly database: TestDatabase;
  }) {
    this.store = given.store;
    this.id = given.session.id;
    this.repo = given.repo;
    this.kept = join(given.folder, "undo");
    this.#location = given.database.location;
    this.#folder = given.folder;
    this.#server = given.server;
    this.#setup = given.setup;
  }

  /** Lets a process continue the run until it ends or kills itself. Returns how it ended; null if it was killed. */
  async live(dies: LifeEnd | null): Promise<string | null> {
    this.#running ??= await this.#start();
    const running = this.#running;
    const before = running.stdout().length;
    running.child.stdin?.write(`${JSON.stringify({ dies })}\n`);
    const ended = new RegExp(`^.{${before}}ended (.*)\n`, "s");
    const printed = running.waitFor(ended).then(
      ([, how = ""]) => how,
      () => null,
    );
    const how = await printed;
    if (how === null) {
      const { signal, stderr } = await running.finished;
      expect([signal, stderr]).toEqual(["SIGKILL", ""]);
      this.#running = null;
    }
    await this.expectSound();
    return how;
  }

  #start(): Promise<Running> {
    return startLives(this.#server, [this.#location, this.id, this.#folder]);
  }

  /** Answers what is asked; lets phases that failed be tried again. */
  async help(ended: string): Promise<void> {
    if (ended.startsWith("phase_failed")) {
      this.#setup.fails = false;
      await this.store.write(retryPhases, { session_id: this.id, keys: [] });
      return;
    }
    expect(ended).toBe("waiting");
    for (const question of await this.store.read(listOpenQuestions, { reference: this.id })) {
      if (question.kind !== "approval") {
        await answerRun(this.store, question, { text: "this one" });
      } else if (question.call_id === "approval:ship:1" && !this.#refused) {
        this.#refused = true;
        await answerRun(this.store, question, { choice: "refuse" });
      } else {
        await answerRun(this.store, question, { choice: "approve" });
      }
    }
  }

  /** Lets the run continue until it is done; it may be that already. */
  async finish(): Promise<void> {
    for (;;) {
      const ended = (await this.live(null)) ?? "killed";
      if (ended === "done" || ended.startsWith("nothing_to_continue")) {
        return;
      }
      await this.help(ended);
    }
  }

  /** Names of all files in its folder. */
  files(): readonly string[] {
    return readdirSync(this.repo, { recursive: true, encoding: "utf8" }).toSorted();
  }

  async expectSound(): Promise<void> {
    const { sessions } = await this.store.read(listSessions, {
      limit: 20,
      parent_session_id: this.id,
    });
    for (const { id } of [{ id: this.id }, ...sessions]) {
      expect((await verifySession(this.store, id)).findings).toEqual([]);
    }
  }

  /** Each message of each attempt was sent once, and what is stored is what the provider's log says. */
  async expectWhole(): Promise<void> {
    const { phases, exchange } = await this.store.read(readRun, { reference: this.id });
    expect(exchange?.state).toBe("done");
    const prompts = await this.store.read(
      ({ db }) =>
        db
          .selectFrom("messages")
          .innerJoin("sessions", "sessions.id", "messages.session_id")
          .select(["parent_call_id", ({ fn }) => fn.countAll<number>().as("count")])
          .where("parent_session_id", "=", this.id)
          .where("role", "=", "user")
          .groupBy("parent_call_id")
          .execute(),
      null,
    );
    const counted = new Map(prompts.map(({ parent_call_id, count }) => [parent_call_id, count]));
    for (const { key, attempt } of phases) {
      expect([key, counted.get(`phase:${key}:${attempt}`)]).toEqual([key, PROMPTS[key]]);
    }
    expect([counted.get("phase:docs:1"), counted.get("phase:lint:1")]).toEqual([1, 1]);
    // the refused attempt had no sub-agent
    expect(counted.size).toBe(PHASES.length + 3);
    await this.#expectTokens();
  }

  /** A call is logged once its answer was sent; one whose process died is paid again. */
  async #expectTokens(): Promise<void> {
    const completed = new Map(
      this.#server.completed().map((messages) => [callOf(messages), tokensOf(messages)]),
    );
    const logged = [...completed.values()].reduce((sum, tokens) => sum + tokens, 0);
    const { stored } = await this.store.read(
      ({ db }) =>
        db
          .selectFrom("sessions")
          .select(({ fn }) => fn.sum<number | string>("total_output_tokens").as("stored"))
          .where("parent_session_id", "=", this.id)
          .executeTakeFirstOrThrow(),
      null,
    );
    expect(Number(stored)).toBe(logged);
  }
}

/** Names a call of a model by its phase and its turn. */
function callOf(messages: readonly SentMessage[]): string {
  return `${phaseIn(messages)} ${messages.filter(({ role }) => role === "assistant").length}`;
}

/** Tokens of the answer to a call, another number for each. */
function tokensOf(messages: readonly SentMessage[]): number {
  const index = PHASES.findIndex(({ key }) => key === phaseIn(messages));
  const turn = messages.filter(({ role }) => role === "assistant").length;
  return 10 ** index * (turn + 1);
}

function answerOf(messages: readonly SentMessage[], { fails }: { fails: boolean }): ModelAnswer {
  const key = phaseIn(messages) ?? "";
  const isAgain = (messages[0]?.content ?? "").includes("An earlier attempt");
  if ((key === "docs" && !isAgain) || (key === "lint" && fails)) {
    return { error: { message: "no" }, status: 400 };
  }
  const turn = messages.filter(({ role }) => role === "assistant").length;
  const turns = TURNS[key] ?? [];
  const answer = turns[turn] ?? { content: `what ${key} has left` };
  return { ...answer, usage: { prompt_tokens: 1, completion_tokens: tokensOf(messages) } };
}

const TURNS: Readonly<Record<string, readonly ModelAnswer[]>> = {
  design: [
    { content: "I am done." },
    handingIn('{"name":"x"}'),
    handingIn('{"title":"The design"}'),
  ],
  ask: [
    { toolCalls: [{ name: "ask_user", arguments: JSON.stringify({ question: "Which one?" }) }] },
  ],
  build: [writing("built"), { content: "built" }, ...(hasSandbox ? [writing("right")] : [])],
};

import { createRunExchanger } from "../../../src/agent/plans/run-exchanger.ts";
import { isRepriseError } from "../../../src/core/errors.ts";
import { attemptOfCall, type RunOptions } from "../../../src/core/plan-runs.ts";
import { tokenHolder } from "../../../src/core/principal.ts";
import type { QuestionRecord } from "../../../src/core/sessions.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { stopCurrent } from "../../../src/store/records/exchanges/change.ts";
import { readCurrentExchange } from "../../../src/store/records/exchanges/current.ts";
import { queueExchange } from "../../../src/store/records/exchanges/queue.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { readRunOf } from "../../../src/store/records/plans/read-runs.ts";
import { retryPhases } from "../../../src/store/records/plans/retry.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { expect, it } from "vitest";
import { describeEngine } from "../../helpers/engines.ts";
import { agentOptions } from "../../helpers/exchanger.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import {
  answerRun,
  handingIn,
  phase,
  phaseIn,
  reportFolder,
  reporting,
  storeRun,
} from "../../helpers/plan-bench.ts";
import { runFaults } from "../../helpers/plans/run-faults.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { exportsOf } from "../../helpers/sessions/stored.ts";
import { testSize } from "../../helpers/size.ts";
import {
  BEHAVIOURS,
  behaviourOf,
  HANDING,
  type ReferencePhase,
  RunReference,
} from "./run-reference.ts";

const STEPS = 14;
/** Ends of a process that runs the run. `dies` and `freezes` do so at one of its writes. */
const WAYS = ["whole", "whole", "dies", "dies", "freezes", "stops", "stopped", "refused"] as const;
type Way = (typeof WAYS)[number];

const ASKS: ModelAnswer = {
  toolCalls: [{ name: "ask_user", arguments: JSON.stringify({ question: "Which one?" }) }],
};

/** A store whose process freezes at its write of this number, from 1, until it is thawed. */
function freezingStore(store: Store, at: number, when: "before" | "after") {
  const frozen = Promise.withResolvers<void>();
  const thawed = Promise.withResolvers<void>();
  let [writes, isFrozen] = [0, false];
  const freeze = (): Promise<void> => {
    isFrozen = true;
    frozen.resolve();
    return thawed.promise;
  };
  const freezing: Store = {
    location: store.location,
    onCommit: (listener) => store.onCommit(listener),
    mayHaveChanged: () => store.mayHaveChanged(),
    load: () => store.load(),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
    read: async (operation, input) => {
      await (isFrozen ? thawed.promise : undefined);
      return store.read(operation, input);
    },
    write: async (operation, input) => {
      writes += 1;
      const isIt = writes === at;
      await (isFrozen ? thawed.promise : isIt && when === "before" ? freeze() : undefined);
      const output = await store.write(operation, input);
      await (isIt && when === "after" ? freeze() : undefined);
      return output;
    },
  };
  return { store: freezing, frozen: frozen.promise, thaw: () => thawed.resolve() };
}

describeEngine("random lives of runs", (engine) => {
  it("[PLANRUN-110] whatever is answered, stopped, tried again, killed and frozen, a run is what its plan and the answers say", async () => {
    const seed = seedOf("plan-lives");
    const store = await (await engine.create()).open();
    let world: World | null = null;
    const server = await startModelServer({ answer: (messages) => world!.answer(messages) });
    const env = { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
    const open = (used: Store) =>
      createRunExchanger({
        ...agentOptions(used),
        models: { ...modelConfig(env), retries: 0 },
      });
    const lives = testSize("plan-lives");
    for (let life = 0; life < lives; life += 1) {
      world = new World(store, randomOf(seed + life), open);
      try {
        await world.live();
        expect(server.refused()).toEqual([]);
      } catch (error) {
        throw new Error(`seed ${seed + life}: ${world.story.join("; ")}`, { cause: error });
      }
    }
  });
});

class World {
  readonly story: string[] = [];
  readonly #store: Store;
  readonly #random: () => number;
  readonly #open: (store: Store) => ReturnType<typeof createRunExchanger>;
  #id = "";
  readonly #runId = crypto.randomUUID();
  #reference = new RunReference([], 0);
  #options: RunOptions = { parallel: 1, retries: 0, approve: [] };
  /** Called at the next request of a model. */
  #event: (() => ModelAnswer | null) | null = null;
  #answering: Promise<unknown>[] = [];
  /** Processes that are frozen. */
  readonly #frozen: { thaw(): void; readonly ended: Promise<unknown> }[] = [];

  constructor(
    store: Store,
    random: () => number,
    open: (store: Store) => ReturnType<typeof createRunExchanger>,
  ) {
    this.#store = store;
    this.#random = random;
    this.#open = open;
  }

  async live(): Promise<void> {
    await this.#create();
    for (let step = 0; step < STEPS; step += 1) {
      await this.#step();
    }
    for (let rounds = 0; rounds < 60; rounds += 1) {
      const end = await this.#act("whole");
      if (end === "done") {
        break;
      }
      expect(rounds).toBeLessThan(50);
      await (end === "failed" ? this.#retry() : this.#answerAll());
    }
    await this.#thaw();
    await this.#compare("done");
    await this.#wholeChildren();
    const findings = (await verifySession(this.#store, this.#id)).findings;
    expect(findings).toEqual([]);
    await this.#store.write(deleteSessionTree, { id: this.#id });
  }

  answer(messages: readonly SentMessage[]): ModelAnswer {
    const event = this.#event;
    this.#event = null;
    const instead = event?.() ?? null;
    if (instead !== null) {
      return instead;
    }
    const first = messages.find(({ role }) => role === "user")?.content ?? "";
    const why = /^An earlier attempt at this phase failed: (.*)$/m.exec(first)?.[1] ?? "";
    const key = phaseIn(messages);
    const phase =
      key === null ? undefined : this.#reference.phases.find((each) => each.key === key);
    if (phase === undefined) {
      return { content: "a phase of another life" };
    }
    const behaviour = behaviourOf(phase, why);
    const hasTool = (name: string) =>
      messages.some(({ tool_calls }) => JSON.stringify(tool_calls ?? "").includes(name));
    if (behaviour.startsWith("asks") && !hasTool("ask_user")) {
      return ASKS;
    }
    if (behaviour.endsWith("fails")) {
      const n = Number(/failed-(\d)/.exec(why)?.[1] ?? 0) + 1;
      return { error: { message: `failed-${n}` }, status: 400 };
    }
    if (behaviour === "writes" && !hasTool("write_file")) {
      const written = JSON.stringify({ path: `${key}.txt`, content: `${why} ${this.#random()}` });
      return { toolCalls: [{ name: "write_file", arguments: written }] };
    }
    const prompts = messages.filter(({ role }) => role === "user").length;
    const isDue = behaviour === "forgets" ? prompts > 1 : behaviour !== "never";
    if (phase.artifact !== null && isDue && !hasTool('"title')) {
      return handingIn(
        behaviour === "corrects" && !hasTool("hand_in") ? "{}" : '{"title":"a report"}',
      );
    }
    return { content: `what ${key} has left` };
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }

  async #create(): Promise<void> {
    const count = 1 + Math.floor(this.#random() * 7);
    const phases = Array.from({ length: count }, (_, at): ReferencePhase => {
      const before = Array.from({ length: at }, (__, each) => `p${each}`);
      const isHanding = this.#random() < 0.3;
      const behaviours = isHanding ? HANDING : BEHAVIOURS;
      return {
        key: `p${at}`,
        depends_on: before.filter(() => this.#random() < 0.4),
        approves: this.#random() < 0.25,
        isWriter: !isHanding && this.#random() < 0.5,
        artifact: isHanding ? `p${at}.json` : null,
        behaviours: [this.#pick(behaviours), this.#pick(behaviours), this.#pick(behaviours)],
        state: "waiting",
        attempt: 1,
        approved: 0,
        answered: 0,
        why: "",
      };
    });
    const retries = Math.floor(this.#random() * 3);
    const approve = phases.filter(({ approves }) => approves).map(({ key }) => key);
    this.#options = { parallel: 1 + Math.floor(this.#random() * 4), retries, approve };
    this.#reference = new RunReference(phases, retries);
    const { id } = await storeRun({
      store: this.#store,
      repo: reportFolder(),
      phases: phases.map(({ key, depends_on, isWriter, artifact }) =>
        artifact === null
          ? phase(key, depends_on, isWriter ? "assistant" : "asker")
          : { ...reporting(key, artifact, depends_on), role: "asker" },
      ),
      options: this.#options,
      runId: this.#runId,
    });
    this.#id = id;
    const shown = phases.map(
      ({ key, behaviours, approves, isWriter, depends_on }) =>
        `${key}${isWriter ? "w" : ""}${approves ? "!" : ""}(${depends_on.join()}) ${behaviours.join("/")}`,
    );
    this.story.push(`plan ${JSON.stringify(this.#options)} ${shown.join(", ")}`);
  }

  async #step(): Promise<void> {
    const chance = this.#random();
    if (chance < 0.2) {
      await this.#answerOne();
    } else if (chance < 0.27) {
      await this.#retry();
    } else if (chance < 0.34) {
      await this.#stopPhase();
    } else if (chance < 0.4) {
      await this.#message();
    } else if (chance < 0.45) {
      await this.#stopRun();
    } else if (chance < 0.52) {
      await this.#thaw();
    } else if (chance < 0.54) {
      await this.#delete();
    } else {
      await this.#act(this.#pick(WAYS));
    }
  }

  /** Runs the run in another process. Returns how the exchange ended; null if its process was killed or stopped. */
  async #act(way: Way): Promise<string | null> {
    // the first write takes the lease, or the second one from a process that is frozen
    const at = 3 + Math.floor(this.#random() * 40);
    const when = this.#pick(["before", "after"] as const);
    const freezing =
      way === "dies" || way === "freezes" ? freezingStore(this.#store, at, when) : null;
    const stop = new AbortController();
    const requests = 1 + Math.floor(this.#random() * 4);
    this.#event = this.#eventOf(way, stop, requests);
    const session_id = this.#id;
    const running = this.#open(freezing?.store ?? this.#store)
      .exchange(
        { session_id, text: null, when_busy: "take_over" },
        { listener: () => {}, signal: stop.signal },
      )
      .then(({ state }) => state, codeOf);
    const end = await Promise.race([running, ...(freezing === null ? [] : [freezing.frozen])]);
    this.#event = null;
    await Promise.all(this.#answering.splice(0));
    const how = typeof end === "string" ? end : null;
    this.story.push(`${way}${freezing === null ? "" : ` ${when} ${at}`}: ${how}`);
    if (how === null) {
      this.#frozen.push({ thaw: () => freezing?.thaw(), ended: running });
      return null;
    }
    if (how === "nothing_to_continue") {
      expect(this.#reference.settle()).toBe("done");
      return "done";
    }
    if (how === "stopped" || how === "model_unauthorized") {
      expect(["stops", "stopped", "refused"]).toContain(way);
      return null;
    }
    expect(["done", "waiting", "phase_failed"]).toContain(how);
    expect(await this.#store.read(runFaults, { session_id })).toEqual([]);
    const record = await this.#store.read(readCurrentExchange, { session_id });
    if (record?.state === "queued") {
      // something was answered that it has not seen
      this.story.push("woken");
      return this.#act("whole");
    }
    await this.#compare(how === "phase_failed" ? "failed" : how);
    return how === "phase_failed" ? "failed" : how;
  }

  /** Makes the event of the request of this number. */
  #eventOf(way: Way, stop: AbortController, requests: number): () => ModelAnswer | null {
    const event = (): ModelAnswer | null => {
      requests -= 1;
      if (requests > 0) {
        this.#event = event;
        return null;
      }
      if (way === "stops") {
        stop.abort();
      } else if (way === "stopped") {
        this.#answering.push(this.#store.write(stopCurrent, { reference: this.#id }).catch(codeOf));
      } else if (way === "refused") {
        return { error: { message: "no" }, status: 401 };
      } else if (this.#random() < 0.5) {
        this.#answering.push(this.#answerOne());
      }
      return null;
    };
    return event;
  }

  async #compare(how: string): Promise<void> {
    expect(how).toBe(this.#reference.settle());
    const { phases, exchange } = await this.#store.read(readRunOf, { session_id: this.#id });
    expect(exchange?.state).toBe(how);
    const stored = phases.map(({ key, state, attempt }) => `${key} ${state} ${attempt}`);
    const wanted = this.#reference.toString().split(", ");
    const writerAsks = phases.some(({ key, asks }) => asks && this.#reference.of(key).isWriter);
    // phases wait for a writer that asks, with all that depends on them
    const lags = (at: number) => writerAsks && phases[at]?.state === "waiting";
    expect(stored.filter((_, at) => !lags(at))).toEqual(wanted.filter((_, at) => !lags(at)));
  }

  async #questions(): Promise<readonly QuestionRecord[]> {
    return this.#store.read(listOpenQuestions, { reference: this.#id });
  }

  async #answerOne(): Promise<void> {
    const questions = await this.#questions();
    if (questions.length > 0) {
      await this.#give(this.#pick(questions));
    }
  }

  async #answerAll(): Promise<void> {
    const questions = await this.#questions();
    expect(questions).not.toEqual([]);
    for (const question of questions) {
      await this.#give(question, true);
    }
  }

  async #give(question: QuestionRecord, approves = this.#random() < 0.7): Promise<void> {
    const { session_id, kind } = question;
    const isApproval = kind === "approval";
    const call = isApproval
      ? question.call_id
      : (
          await this.#store.read(listSessions, { limit: 100, parent_session_id: this.#id })
        ).sessions.find(({ id }) => id === session_id)?.parent_call_id;
    const found = attemptOfCall(call ?? null, isApproval ? "approval" : "phase");
    expect(found).not.toBeNull();
    const given = isApproval ? { choice: approves ? "approve" : "refuse" } : { text: "this one" };
    const how = await answerRun(this.#store, question, given).then(() => "", codeOf);
    this.story.push(`${isApproval ? given.choice : "answer"} ${call} ${how}`);
    if (how !== "") {
      expect(["question_answered", "question_withdrawn", "question_not_found"]).toContain(how);
      return;
    }
    this.#reference.settle();
    const row = this.#reference.of(found!.key);
    expect(row.attempt).toBe(found!.attempt);
    if (isApproval) {
      expect(row.state).toBe("approval");
      this.#reference.decide(row, approves);
    } else {
      row.answered = row.attempt;
    }
  }

  async #retry(): Promise<void> {
    const how = await this.#store
      .write(retryPhases, { session_id: this.#id, keys: [] })
      .then((keys) => keys, codeOf);
    this.story.push(`retry ${String(how)}`);
    if (typeof how !== "string") {
      // a phase may have failed just before its run was stopped
      this.#reference.settle();
      for (const key of how) {
        const row = this.#reference.of(key);
        expect(["failed", "refused"]).toContain(row.state);
        Object.assign(row, { state: "waiting", attempt: row.attempt + 1 });
      }
    }
  }

  /** Stops a phase that asks while the run waits. */
  async #stopPhase(): Promise<void> {
    const record = await this.#store.read(readCurrentExchange, { session_id: this.#id });
    const asking = (await this.#questions()).filter(({ kind }) => kind === "question");
    const { phases } = await this.#store.read(readRunOf, { session_id: this.#id });
    const [question] = asking;
    if (record?.state === "waiting" && question !== undefined) {
      const row = phases.find(({ child }) => child === question.session_id)!;
      await this.#store.write(stopCurrent, { reference: question.session_id });
      this.story.push(`stop ${row.key}`);
      this.#reference.settle();
      this.#reference.fail(this.#reference.of(row.key), "stopped");
    }
  }

  async #stopRun(): Promise<void> {
    const how = await this.#store
      .write(stopCurrent, { reference: this.#id })
      .then(() => "", codeOf);
    this.story.push(`stop ${how}`);
  }

  async #message(): Promise<void> {
    const principal = tokenHolder("owner");
    const message = { reference: this.#id, content: "hello", asked_by: "http", principal } as const;
    const queued = this.#store.write(queueExchange, message);
    await expect(queued).rejects.toMatchObject({ code: "run_takes_no_message" });
    const sent = this.#open(this.#store).exchange(
      { session_id: this.#id, text: "hello" },
      { listener: () => {}, signal: new AbortController().signal },
    );
    expect(["run_takes_no_message"]).toContain(await sent.then(() => "", codeOf));
  }

  async #delete(): Promise<void> {
    const id = this.#id;
    const how = await this.#store.write(deleteSessionTree, { id }).then(() => "", codeOf);
    this.story.push(`delete ${how}`);
    if (how === "") {
      await expect(this.#store.read(readRunOf, { session_id: id })).rejects.toMatchObject({
        code: "session_not_found",
      });
      const stop = new AbortController();
      const gone = this.#open(this.#store).exchange(
        { session_id: id, text: null },
        { listener: () => {}, signal: stop.signal },
      );
      await expect(gone).rejects.toMatchObject({ code: "session_not_found" });
      await this.#create();
    } else {
      expect(how).toBe("session_busy");
    }
  }

  /** Lets the processes continue that another one has taken the run from. */
  async #thaw(): Promise<void> {
    if (this.#frozen.length === 0) {
      return;
    }
    await this.#act("whole");
    const before = await exportsOf(this.#store);
    this.story.push(`thaw ${this.#frozen.length}`);
    for (const { thaw, ended } of this.#frozen.splice(0)) {
      thaw();
      // it may have frozen after its last write
      await ended;
    }
    expect(await exportsOf(this.#store)).toEqual(before);
  }

  /** Each sub-agent has got one message, and one for each correction. */
  async #wholeChildren(): Promise<void> {
    const { sessions } = await this.#store.read(listSessions, {
      limit: 100,
      parent_session_id: this.#id,
    });
    for (const { id, parent_call_id } of sessions) {
      const { key } = attemptOfCall(parent_call_id)!;
      const { messages } = await this.#store.read(readDetail, { reference: id, all: true });
      const users = messages.filter(({ role }) => role === "user");
      const why = /^An earlier attempt at this phase failed: (.*)$/m.exec(users[0]?.content ?? "");
      const behaviour = behaviourOf(this.#reference.of(key), why?.[1] ?? "");
      const prompts = { forgets: 2, never: 3 } as Readonly<Record<string, number>>;
      expect([parent_call_id, users.length]).toEqual([parent_call_id, prompts[behaviour] ?? 1]);
      expect((await verifySession(this.#store, id)).findings).toEqual([]);
    }
  }
}

function codeOf(error: unknown): string {
  if (isRepriseError(error)) {
    return error.code;
  }
  throw error;
}

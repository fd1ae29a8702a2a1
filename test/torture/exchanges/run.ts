import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "vitest";

import { createSession } from "../../../src/store/records/sessions/create.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import type { TestDatabase } from "../../helpers/engines.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { trustFolder } from "../../helpers/trust.ts";
import { Clients } from "./clients.ts";
import { readEffects } from "./effects.ts";
import { type Node, Nodes } from "./nodes.ts";
import { expectSound, NOTE } from "./oracle.ts";
import { kindsFor } from "./plan.ts";
import { Rounds } from "./rounds.ts";
import { isOpen, nameOf, readRows, selectOpen, selectQuestions, selectRows } from "./rows.ts";
import type { Kind } from "./script.ts";
import { until } from "./until.ts";

export interface TortureOptions {
  readonly database: TestDatabase;
  readonly random: () => number;
  /** What happens in each round: see `planOf`. */
  readonly plan: readonly string[];
  /** How many nodes there are in a round. */
  readonly nodesIn: (round: number) => number;
  readonly sessions: number;
  /** Exchanges that wait or run at most before more messages are sent. */
  readonly backlog: number;
  /** Of the messages; what leads to the round's point if it is not given. */
  readonly kinds?: readonly Kind[];
  /** See `NodesOptions`; then all nodes run it. */
  readonly program?: string;
}

/**
 * Lets nodes answer messages and questions and kills, ends or freezes one in each round. Throws if
 * anything was seen that must not be; returns what was done.
 */
export async function tortureExchanges(options: TortureOptions): Promise<string> {
  const torture = await Torture.open(options);
  try {
    await torture.runAll();
    return torture.figures();
  } catch (error) {
    if (options.program === undefined) {
      console.log(`what was seen and stored is in ${await torture.dump()}`);
    }
    throw error;
  } finally {
    await torture.stop();
  }
}

class Torture {
  readonly #options: TortureOptions;
  readonly #store: Store;
  readonly #nodes: Nodes;
  readonly #clients: Clients;
  readonly #sessions: readonly string[];
  readonly #effects: string;
  readonly #sending = new Set<Promise<void>>();
  /** Ids of questions that somebody answers or has answered. */
  readonly #answered = new Set<string>();
  /** By session: as it was when it was verified. */
  readonly #verified = new Map<string, string>();
  readonly #rounds: Rounds;
  #kinds: readonly Kind[] | undefined;
  /** How many of the open questions are answered at once. */
  #diligence = 0.3;
  #isOver = false;

  static async open(options: TortureOptions): Promise<Torture> {
    const store = await options.database.open();
    const home = freshHome();
    writeFileSync(join(home.project, NOTE), "a note");
    trustFolder(home.home, home.project);
    const effects = join(temporaryFolder(), "effects");
    writeFileSync(effects, "");
    const sessions: string[] = [];
    for (let index = 0; index < options.sessions; index += 1) {
      sessions.push(
        (await store.write(createSession, { repo_path: home.project, permission: "all" })).id,
      );
    }
    const { program, database } = options;
    const nodes = new Nodes({ store, location: database.location, home, effects, program });
    return new Torture({ options, store, nodes, sessions, effects });
  }

  private constructor(made: {
    readonly options: TortureOptions;
    readonly store: Store;
    readonly nodes: Nodes;
    readonly sessions: readonly string[];
    readonly effects: string;
  }) {
    this.#options = made.options;
    this.#store = made.store;
    this.#nodes = made.nodes;
    this.#sessions = made.sessions;
    this.#effects = made.effects;
    const { store, nodes } = made;
    const { random } = made.options;
    this.#clients = new Clients(nodes, random);
    const send = (first?: Node, session?: string) => this.#send(first, session);
    this.#rounds = new Rounds({ store, nodes, random, send });
  }

  async runAll(): Promise<void> {
    const { plan, random, nodesIn, program } = this.#options;
    const feeding = this.#feed();
    for (const [round, what] of plan.entries()) {
      const needed = what.includes(":") && !this.#nodes.alive.some(({ hasPoints }) => hasPoints);
      const missing = Math.max(needed ? 1 : 0, nodesIn(round) - this.#nodes.alive.length);
      const isAny = (index: number) => program === undefined && !(needed && index === 0);
      await Promise.all(
        Array.from({ length: missing }, (_, index) =>
          this.#nodes.start({ hasPoints: !isAny(index) || random() < 0.6 }),
        ),
      );
      this.#kinds = kindsFor(what);
      console.log(`round ${round}: ${what}`);
      await Promise.race([this.#rounds.run(what), feeding]);
      await this.#verify();
      const { violations } = this.#nodes;
      // a failed comparison shortens its lists
      expect(violations, `round ${round}: ${what}: ${violations.join("; ")}`).toEqual([]);
    }
    this.#isOver = true;
    this.#diligence = 1;
    await Promise.all([this.#nodes.start(), feeding]);
    const continued = await this.#finish();
    for (const node of this.#nodes.alive) {
      await this.#nodes.terminate(node);
    }
    this.#verified.clear();
    await this.#verify();
    const { sent, replies } = this.#clients;
    const [store, nodes, effects] = [this.#store, this.#nodes, this.#effects];
    await expectSound({ store, nodes, sent, replies, continued, effects });
  }

  /** Ends what is still running in this process. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#clients.close();
    await Promise.allSettled(this.#sending);
  }

  /** Writes all that may explain a failure into a file that stays. */
  async dump(): Promise<string> {
    const { asked, deaths, stopped, violations } = this.#nodes;
    const { sent, replies } = this.#clients;
    const { records, sessions } = await this.#store.read(selectRows, null);
    const questions = await this.#store.read(selectQuestions, null);
    const messages = await this.#store.read(
      ({ db }) => db.selectFrom("messages").selectAll().execute(),
      null,
    );
    const seen = { sent, replies, asked, violations, effects: readEffects(this.#effects) };
    const rows = { sessions, records, questions, messages };
    const nodes = this.#nodes.all.map(({ name, running, state }) => {
      return { name, pid: running.pid, state, stderr: running.stderr() };
    });
    const all = { nodes, deaths: [...deaths], stopped: [...stopped.keys()], ...seen, ...rows };
    const file = join(mkdtempSync(join(tmpdir(), "torture-")), "seen.json");
    writeFileSync(file, JSON.stringify(all, null, 1));
    return file;
  }

  figures(): string {
    const { plan } = this.#options;
    const hits = [...new Set(plan)].toSorted().map((name) => {
      const count = plan.filter((each) => each === name).length;
      return `${name} ${count}`;
    });
    const { asked, all, deaths } = this.#nodes;
    const { sent, replies } = this.#clients;
    const died = [...deaths.values()].reduce((sum, count) => sum + count, 0);
    return `${plan.length} rounds, ${sent.length} messages, ${asked.length} requests, ${readEffects(this.#effects).length} runs of unsafe tools, ${this.#answered.size} questions with ${replies.length} answers, ${all.length} processes that took ${died} exchanges with them; ${hits.join(", ")}`;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#options.random() * from.length)]!;
  }

  #keep(task: Promise<void>): void {
    const kept = task
      .catch((error: unknown) => {
        if (!this.#isOver) {
          this.#nodes.violations.push(`a client: ${String(error)}`);
        }
      })
      .finally(() => this.#sending.delete(kept));
    this.#sending.add(kept);
  }

  #send(first?: Node, session = this.#pick(this.#sessions)): void {
    const kinds = this.#options.random() < 0.5 ? this.#kinds : undefined;
    this.#keep(this.#clients.send(session, { first, kinds: this.#options.kinds ?? kinds }));
  }

  /** Sends messages and answers questions. */
  async #feed(): Promise<void> {
    while (!this.#isOver) {
      const { records } = await this.#store.read(selectOpen, null);
      // those of sub-agents stay open below an exchange that failed
      const waiting = records.filter(({ asked_by }) => asked_by !== "agent");
      // what is on its way may be stored already: then fewer are sent
      const open = waiting.length + this.#sending.size;
      for (let count = open; count < Math.min(this.#options.backlog, open + 6); count += 1) {
        this.#send();
      }
      await this.#answer();
      await sleep(50);
    }
  }

  async #answer(): Promise<void> {
    for (const question of await this.#store.read(selectQuestions, null)) {
      const isOpen = question.state === "open" && !this.#answered.has(question.id);
      if (isOpen && this.#options.random() < this.#diligence) {
        this.#answered.add(question.id);
        this.#keep(this.#clients.answer(question, this.#rounds.firstAsked));
      }
    }
  }

  /** Until nothing is left to do; returns what continues the failed exchanges, by their names. */
  async #finish(): Promise<ReadonlyMap<string, number | null>> {
    const continued = new Map<string, number | null>();
    let last = "";
    for (let isDone = false; !isDone;) {
      await until(`a node goes on with ${last}`, async () => {
        await this.#answer();
        const { records } = await this.#store.read(selectOpen, null);
        isDone = records.every(({ asked_by }) => asked_by === "agent");
        const left = JSON.stringify([records.map(nameOf), this.#nodes.asked.length]);
        const isChanged = left !== last;
        last = left;
        return isDone || isChanged;
      });
      await Promise.all(this.#sending);
      const { records } = await readRows(this.#store);
      for (const record of records) {
        const sent = this.#clients.sent.find((each) => nameOf(each) === nameOf(record));
        const isLast = !records.some(
          (each) => each.session_id === record.session_id && isOpen(each),
        );
        if (
          sent !== undefined &&
          record.state === "failed" &&
          isLast &&
          !continued.has(nameOf(sent))
        ) {
          continued.set(nameOf(sent), await this.#clients.continueFailed(sent));
          isDone = false;
        }
      }
    }
    return continued;
  }

  /** What has changed since the last time. */
  async #verify(): Promise<void> {
    const { sessions, records } = await readRows(this.#store);
    for (const session of sessions) {
      const own = records.filter(({ session_id }) => session_id === session.id);
      const state = JSON.stringify([session, own]);
      if (this.#verified.get(session.id) !== state) {
        expect((await verifySession(this.#store, session.id)).findings, session.id).toEqual([]);
        this.#verified.set(session.id, state);
      }
    }
  }
}

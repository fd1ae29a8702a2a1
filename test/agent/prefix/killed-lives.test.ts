import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { setPlanMode, switchModel } from "../../../src/store/records/sessions/change.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { describeEngine, type TestDatabase } from "../../helpers/engines.ts";
import type { Running } from "../../helpers/process.ts";
import type { Script } from "../../helpers/providers/server.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { isPostgresRun, testSize } from "../../helpers/size.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { ScriptedThoughts } from "./scripted-thoughts.ts";
import { MODELS, type Name, PROVIDERS, startProviders } from "./switch-bench.ts";
import { Witness } from "./witness.ts";

/** Messages of which one is sent again and again until no process dies of it. */
const KINDS = ["calls", "delegate", "call", "say"] as const;
const CHANGES = "none none plan instructions compact switch switch".split(" ");
/** How an exchange may end. */
const MAY_END = /^(killed|done|stopped)$|^(model_unreachable|nothing_to_continue):/;
const LIVES = testSize("killed-lives");

describeEngine("a thread whose processes are killed", (engine) => {
  it("[PREFIX-4] [PREFIX-1] [SWITCH-2] [EXCHANGE-1] keeps its prefix, whichever write of an exchange is the last, also when another process continues it", async () => {
    const seed = seedOf("killed-lives");
    const world = await World.open(await engine.create());
    for (let life = 0; life < (isPostgresRun() ? Math.ceil(LIVES / 4) : LIVES); life += 1) {
      await new Life(world, randomOf(seed + life)).run(KINDS[life % KINDS.length]!);
    }
    await world.close();
    console.log("killed-lives:", JSON.stringify(world.counted));
    expect(world.counted.killed).toBeGreaterThan(0);
  });
});

type Providers = Awaited<ReturnType<typeof startProviders>>;

/** What all lives share: a database, a folder, providers, and the process that runs next. */
class World {
  readonly counted = { exchanges: 0, requests: 0, prefixes: 0, killed: 0, continued: 0 };
  readonly repo = temporaryFolder();
  thoughts = new ScriptedThoughts(() => 0);
  witness: Witness | null = null;
  readonly store: Store;
  readonly #location: string;
  #providers: Providers | null = null;
  #process: Running | null = null;
  #spare: Running | null = null;
  /** What the process was given to do so far. */
  #orders = 0;

  static async open(database: TestDatabase): Promise<World> {
    const world = new World(await database.open(), database.location);
    world.#providers = await startProviders((name) => world.#scriptOf(name));
    world.#spare = world.#start();
    return world;
  }

  private constructor(store: Store, location: string) {
    this.store = store;
    this.#location = location;
  }

  get providers(): Providers {
    return this.#providers!;
  }

  /** Lets a process run an order; returns how it ended, or null if it was killed. */
  async order(order: object): Promise<string | null> {
    if (this.#process === null) {
      this.#process = this.#spare ?? this.#start();
      await this.#process.waitFor(/^ready$/m);
      this.#spare = this.#start();
    }
    const running = this.#process;
    this.#orders += 1;
    running.child.stdin?.write(`${JSON.stringify(order)}\n`);
    const ended = await running
      .waitFor(new RegExp(`^${this.#orders} ended (.*)$`, "m"))
      .catch(() => null);
    if (ended !== null) {
      return ended[1] ?? "";
    }
    const { signal, stderr } = await running.finished;
    expect([signal, stderr]).toEqual(["SIGKILL", ""]);
    this.#process = null;
    this.#orders = 0;
    return null;
  }

  refusals() {
    return Object.values(this.providers.providers).flatMap((provider) => provider.refusals());
  }

  async close(): Promise<void> {
    await Promise.all([this.#process?.stop(), this.#spare?.stop()]);
  }

  #start(): Running {
    const { env, entries } = this.providers;
    return startProgram("exchange-lives.ts", [this.#location, JSON.stringify(entries)], {
      env,
    });
  }

  #scriptOf(name: Name): Script {
    // the strict server's model does not think, and Kimi gives its calls ids that others refuse
    const form = {
      thinks: name !== "groq",
      ...(name === "moonshot" ? { idOf: (n: number) => `functions.list_files:${n}` } : {}),
    };
    return async (_index, body, received) => {
      await this.witness?.note(name, received);
      return this.thoughts.answer(body, received, form);
    };
  }
}

/** Life of one session: the same kind of message with a kill at write 1, 2, … until none is left. */
class Life {
  readonly #world: World;
  readonly #random: () => number;
  readonly #story: string[] = [];
  readonly #instructions: string;
  #id = "";

  constructor(world: World, random: () => number) {
    this.#world = world;
    this.#random = random;
    this.#instructions = join(world.repo, "AGENTS.md");
  }

  async run(kind: string): Promise<void> {
    const { store, counted, thoughts, witness } = await this.#begin();
    const begins = this.#world.providers.order.length;
    for (let at = 1; ; at += 1) {
      await this.#change(this.#pick(CHANGES));
      const when = this.#pick(["before", "within", "after"] as const);
      if ((await this.#exchange(`${kind} ${at}`, { dies: { at, when } })) !== null) {
        break;
      }
      counted.killed += 1;
      await this.#continue();
    }
    await this.#exchange("say at last");
    expect(thoughts.way).toBeNull();
    const received = this.#world.providers.order.slice(begins);
    const story = this.#story.join();
    const dropped = received.flatMap((request) => request.dropped);
    expect(
      dropped.filter(({ reason }) => reason !== "model_binding_mismatch"),
      story,
    ).toEqual([]);
    counted.prefixes += witness.judge(story);
    counted.requests += received.length;
    expect((await verifySession(store, this.#id)).findings, story).toEqual([]);
  }

  async #begin() {
    const { store, counted, repo } = this.#world;
    rmSync(this.#instructions, { force: true });
    const session = { repo_path: repo, permission: "all", model: this.#model() } as const;
    this.#id = (await store.write(createSession, session)).id;
    const witness = new Witness(store, this.#id);
    const thoughts = new ScriptedThoughts(this.#random);
    Object.assign(this.#world, { witness, thoughts });
    return { store, counted, witness, thoughts };
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }

  #model(): string {
    const name = this.#pick(PROVIDERS);
    const model = `${name}:${this.#pick(MODELS[name])}`;
    this.#story.push(model);
    return model;
  }

  async #change(change: string): Promise<void> {
    const { store } = this.#world;
    this.#story.push(change);
    if (change === "plan") {
      await store.write(setPlanMode, { id: this.#id, plan_mode: this.#random() < 0.3 });
    } else if (change === "instructions") {
      writeFileSync(this.#instructions, `Rule ${Math.floor(this.#random() * 3)}.`);
    } else if (change === "switch") {
      await store.write(switchModel, { id: this.#id, model: this.#model() });
    } else if (change === "compact") {
      const order = { session_id: this.#id, text: null, compact: true, asks: true };
      expect(await this.#world.order(order)).toMatch(/^(compacted$|exchange_interrupted:)/);
    }
  }

  /** Another process continues what was killed, and may fail and be stopped itself. */
  async #continue(): Promise<void> {
    const { thoughts, counted } = this.#world;
    const stops = this.#random() < 0.15;
    const breaks = this.#random() < 0.15;
    thoughts.way = stops ? "stop" : breaks ? "break" : null;
    // the process stops the exchange once it has half of an answer
    thoughts.onStop = () => new Promise(() => undefined);
    this.#story.push(thoughts.way ?? "whole");
    const ended = await this.#exchange(null, { stops });
    counted.continued += ended === "done" ? 1 : 0;
    thoughts.way = null;
  }

  async #exchange(text: string | null, more: object = {}): Promise<string | null> {
    const asks = this.#random() < 0.8;
    this.#world.counted.exchanges += 1;
    const ended = await this.#world.order({ session_id: this.#id, text, asks, ...more });
    this.#story.push(`${text ?? "continue"} ${JSON.stringify(more)}: ${ended ?? "killed"}`);
    expect(this.#world.refusals(), this.#story.join()).toEqual([]);
    expect(ended ?? "killed", this.#story.join()).toMatch(MAY_END);
    return ended;
  }
}

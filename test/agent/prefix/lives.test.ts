import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import type { AgentOptions } from "../../../src/agent/exchange-context.ts";
import { createExchanger } from "../../../src/agent/exchange.ts";
import { type ErrorCode, isRepriseError } from "../../../src/core/errors.ts";
import { undoExchange } from "../../../src/exchange/undo/undo-exchange.ts";
import { copySession } from "../../../src/store/portable/copy-session.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { atRest, importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { setPlanMode, switchModel } from "../../../src/store/records/sessions/change.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import { setPermissionMode } from "../../../src/store/records/sessions/permissions.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { createKeptBytes } from "../../../src/workspace/undo/kept-bytes.ts";
import { createDatabase } from "../../helpers/database.ts";
import { dyingStore } from "../../helpers/dying-store.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import type { Provider } from "../../helpers/providers/start.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { isPostgresRun, testSize } from "../../helpers/size.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { openBound } from "./bound-bench.ts";
import { ScriptedThoughts } from "./scripted-thoughts.ts";
import { Witness } from "./witness.ts";

const STEPS = 14;
const MODELS = [
  "claude-opus-5-5",
  "claude-fable-5-1",
  "claude-fable-5-2",
  "claude-sonnet-5",
  "claude-haiku-5-5",
] as const;
const ACTS = [
  "say say call call calls delegate plan instructions compact switch switch",
  "stop break die die undo redo import copy",
].flatMap((acts) => acts.split(" "));

it("[PREFIX-4] [PREFIX-1] [PREFIX-10] [SWITCH-2] whatever happens to a thread, each request adds to the one before or begins a prefix, and none is refused", async () => {
  const seed = seedOf("prefix-lives");
  const world = await World.open();
  for (let life = 0; life < testSize("prefix-lives"); life += 1) {
    const random = randomOf(seed + life);
    world.begin(random);
    const session = await Life.begin(world, random);
    for (let step = 0; step < STEPS; step += 1) {
      await session.act(session.pick(ACTS), step);
    }
    await session.end();
  }
  console.log("prefix-lives:", JSON.stringify(world.counted));
  expect(world.counted.requests).toBeGreaterThan(world.counted.exchanges / 2);
});

/** Databases, folder and provider of all lives: one database on each engine. */
class World {
  readonly counted = {
    exchanges: 0,
    requests: 0,
    prefixes: 0,
    dead: 0,
    switches: 0,
    undone: 0,
    imported: 0,
    copied: 0,
    unread: 0,
  };
  readonly repo: string;
  readonly homes: readonly [AgentOptions, AgentOptions];
  readonly provider: Provider;
  thoughts = new ScriptedThoughts(() => 0);
  witness: Witness | null = null;

  static async open(): Promise<World> {
    const world: { opened: World | null } = { opened: null };
    const bench = await openBound(async (_index, body, received) => {
      await world.opened?.witness?.note("anthropic", received);
      return world.opened?.thoughts.answer(body, received) ?? [];
    });
    const other = await createDatabase(isPostgresRun() ? "sqlite" : "postgres");
    onTestFinished(() => other[Symbol.asyncDispose]());
    const store = await openStoreAt(other.location);
    onTestFinished(() => store.close());
    const shared: AgentOptions = {
      ...bench.parts,
      models: { ...bench.parts.models, retries: 0 },
      kept: createKeptBytes(join(temporaryFolder(), "undo")),
    };
    const homes = [shared, { ...shared, store }] as const;
    world.opened = new World({ repo: bench.repo, homes, provider: bench.provider });
    return world.opened;
  }

  private constructor(opened: Pick<World, "repo" | "homes" | "provider">) {
    this.repo = opened.repo;
    this.homes = opened.homes;
    this.provider = opened.provider;
  }

  get instructions(): string {
    return join(this.repo, "AGENTS.md");
  }

  rule(): string | null {
    return existsSync(this.instructions) ? readFileSync(this.instructions, "utf8") : null;
  }

  begin(random: () => number): void {
    this.thoughts = new ScriptedThoughts(random);
    this.witness = null;
    for (const name of readdirSync(this.repo)) {
      rmSync(join(this.repo, name), { recursive: true });
    }
  }
}

/** Life of one session. */
class Life {
  readonly #world: World;
  readonly #random: () => number;
  readonly #story: string[] = [];
  readonly #buried: (() => void)[] = [];
  readonly #begins: number;
  #home: AgentOptions;
  #id = "";
  #witness: Witness;

  static async begin(world: World, random: () => number): Promise<Life> {
    const life = new Life(world, random);
    await life.#create();
    return life;
  }

  private constructor(world: World, random: () => number) {
    this.#world = world;
    this.#random = random;
    [this.#home] = world.homes;
    this.#begins = world.provider.received.length;
    this.#witness = new Witness(this.#home.store, "", () => world.rule());
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }

  async #create(): Promise<void> {
    const model = this.pick(MODELS);
    this.#story.push(model);
    const { id } = await this.#home.store.write(createSession, {
      repo_path: this.#world.repo,
      permission: "all",
      model: `anthropic:${model}`,
    });
    this.#id = id;
    this.#witness.follow(this.#home.store, id);
    this.#world.witness = this.#witness;
  }

  async act(act: string, step: number): Promise<void> {
    this.#story.push(act);
    const { thoughts } = this.#world;
    switch (act) {
      case "plan":
        return void (await this.#home.store.write(setPlanMode, {
          id: this.#id,
          plan_mode: this.#random() < 0.5,
        }));
      case "instructions":
        return this.#instruct();
      case "compact":
        return this.#compact();
      case "switch":
        return this.#switch();
      case "undo":
      case "redo":
        return this.#undo(act);
      case "import":
        return this.#import();
      case "copy":
        return this.#copy();
      case "die":
        return this.#die();
      case "stop":
      case "break":
        thoughts.way = act;
        return this.#run(`say ${step}`);
      default:
        return this.#run(this.#random() < 0.2 ? null : `${act} ${step}`);
    }
  }

  /** Judges all that was sent, and what is stored. */
  async end(): Promise<void> {
    const { counted, provider, thoughts } = this.#world;
    thoughts.way = null;
    await this.#run("say 99");
    const story = this.#story.join();
    const received = provider.received.slice(this.#begins);
    expect(
      received.flatMap(({ refusal }) => refusal ?? []),
      story,
    ).toEqual([]);
    const dropped = received.flatMap((request) => request.dropped);
    // documented: a model does not read the blocks of some others
    expect(
      dropped.filter(({ reason }) => reason !== "model_binding_mismatch"),
      story,
    ).toEqual([]);
    counted.unread += dropped.length;
    counted.prefixes += this.#witness.judge(story);
    counted.requests += received.length;
    expect((await verifySession(this.#home.store, this.#id)).findings, story).toEqual([]);
    for (const bury of this.#buried) {
      bury();
    }
  }

  async #run(text: string | null, store = this.#home.store): Promise<void> {
    const stop = new AbortController();
    this.#world.thoughts.onStop = () => stop.abort();
    const exchanger = createExchanger({
      ...this.#home,
      permission: { allow: [], asks: this.#random() < 0.8 },
      store,
    });
    this.#world.counted.exchanges += 1;
    await unless(
      ["model_unreachable", "lease_lost", "nothing_to_continue"],
      exchanger.exchange(
        { session_id: this.#id, text, when_busy: "take_over" },
        { listener: () => undefined, signal: stop.signal },
      ),
    );
  }

  async #die(): Promise<void> {
    const at = 1 + Math.floor(this.#random() * 14);
    const when = this.pick(["before", "after"] as const);
    const text = this.pick(["call 1", "delegate 1"]);
    this.#story.push(`${text} ${when} ${at}`);
    const dying = dyingStore(this.#home.store, at, when);
    this.#buried.push(() => dying.bury());
    await Promise.race([this.#run(text, dying.store), dying.dead]);
    this.#world.counted.dead += 1;
  }

  #instruct(): void {
    const { instructions } = this.#world;
    const rule = Math.floor(this.#random() * 3);
    const isRemoved = this.#random() < 0.4;
    writeFileSync(instructions, `Rule ${rule}.`);
    if (isRemoved) {
      rmSync(instructions);
    }
  }

  async #compact(): Promise<void> {
    const { signal } = new AbortController();
    await unless(
      ["exchange_interrupted", "session_busy"],
      createExchanger(this.#home).compact({ session_id: this.#id }, { signal }),
    );
  }

  async #switch(): Promise<void> {
    const model = this.pick(MODELS);
    this.#story.push(model);
    // one that asks or runs elsewhere keeps its own
    const switched = await unless(
      ["session_busy"],
      this.#home.store.write(switchModel, { id: this.#id, model: `anthropic:${model}` }),
    );
    this.#world.counted.switches += switched ? 1 : 0;
  }

  async #undo(direction: "undo" | "redo"): Promise<void> {
    const { store, kept = null } = this.#home;
    const undone = await unless(
      ["nothing_to_undo", "session_busy", "exchange_interrupted"],
      undoExchange({ store, kept, command: "test" }, { reference: this.#id, direction }),
    );
    this.#world.counted.undone += undone ? 1 : 0;
  }

  /** Moves the session by a file: into the same database under new ids, or into that of the other engine. */
  async #import(): Promise<void> {
    const to = this.pick(this.#world.homes);
    const { store } = this.#home;
    const text = exportText(await store.read(readSessionTree, { id: this.#id }), NOW);
    const read = atRest(parseExport([...text].join("")), NOW);
    const tree = to === this.#home || this.#random() < 0.5 ? withNewIds(read) : read;
    const isKept = tree.session.id === this.#id;
    if (isKept && !(await this.#leave())) {
      return;
    }
    await importTree(to.store, tree);
    await this.#arrive(to, tree.session.id);
    this.#world.counted.imported += 1;
  }

  /** Copies the session into the database of the other engine. */
  async #copy(): Promise<void> {
    const source = this.#home;
    const to = this.#world.homes.find((home) => home !== source)!;
    const copied = await unless(
      ["session_busy"],
      copySession({ source: source.store, target: to.store, id: this.#id }),
    );
    if (copied && (await this.#leave())) {
      await this.#arrive(to, this.#id);
      this.#world.counted.copied += 1;
    }
  }

  /** Deletes the session, so that it may come back; false while a dead process seems to run it. */
  #leave(): Promise<boolean> {
    return unless(["session_busy"], this.#home.store.write(deleteSessionTree, { id: this.#id }));
  }

  async #arrive(to: AgentOptions, id: string): Promise<void> {
    this.#home = to;
    this.#id = id;
    this.#witness.follow(to.store, id);
    // no consent moves
    await to.store.write(setPermissionMode, { id, mode: "all" });
  }
}

const NOW = "2026-01-01T00:00:00.000Z";

/** Returns false if it fails with one of these codes. */
async function unless(codes: readonly ErrorCode[], work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (isRepriseError(error, ...codes)) {
      return false;
    }
    throw error;
  }
}

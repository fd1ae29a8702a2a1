import { expect } from "vitest";

import type { Store } from "../../../src/store/store.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import type { Finished, Running } from "../../helpers/process.ts";
import type { Home } from "../../helpers/reprise.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { until } from "./until.ts";
import { expireLeases, heldBy, isOpen, nameOf, ownerOf, selectOpen } from "./rows.ts";
import { answerOf, type Asked, rootTag } from "./script.ts";
import { freeze, freezeAtRest } from "./frozen.ts";

export const TOKEN = "a-token";

/** One process of the service. */
export interface Node {
  readonly name: string;
  readonly url: string;
  readonly running: Running;
  /** False for `reprise serve` as it is installed, which has no unsafe tools and no points. */
  readonly hasPoints: boolean;
  state: "starting" | "alive" | "frozen" | "gone";
  /** True if it was killed, ended or frozen: it may have lost the answers that were on their way. */
  wasEnded: boolean;
  /** What it asked the model for, tag and stretch, as long as it may hold the sessions. */
  readonly tags: Set<string>;
  readonly stopModel: () => Promise<void>;
}

export interface NodesOptions {
  readonly store: Store;
  readonly location: string;
  readonly home: Home;
  /** The file to which the unsafe tools append. */
  readonly effects: string;
  /** The program of nodes with points; `queue-node.ts` if it is not given. */
  readonly program?: string | undefined;
}

/**
 * Starts and ends the processes of a service, and keeps what is seen of them from outside: what they
 * asked the model, and which exchanges died with them.
 */
export class Nodes {
  readonly asked: Asked[] = [];
  /** By the name of the exchange: how many processes died that ran it. */
  readonly deaths = new Map<string, number>();
  /** Tags of messages that were stopped, with the node that ran them then: it may still ask. */
  readonly stopped = new Map<string, Node | null>();
  /** What no process may do. */
  readonly violations: string[] = [];
  readonly all: Node[] = [];
  readonly #options: NodesOptions;
  #started = 0;

  constructor(options: NodesOptions) {
    this.#options = options;
  }

  get alive(): readonly Node[] {
    return this.all.filter(({ state }) => state === "alive");
  }

  /** `latencyMs` is the time between two pieces of the model's answers. */
  async start({ hasPoints = true, arm = "", latencyMs = 4 } = {}): Promise<Node> {
    const { location, effects, home, program = "queue-node.ts" } = this.#options;
    const name = `node-${this.#started}`;
    this.#started += 1;
    // a separate one for each process, so that it is known who asks
    const model = await startModelServer({
      latencyMs,
      chunkSize: 8,
      answer: (messages, _, offered) => {
        const { scripted, stretch, answer } = answerOf(messages, this.asked.length, offered);
        this.#note(node, { ...scripted, stretch });
        return answer;
      },
    });
    const env = { ...model.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
    const options = { name, effects, token: TOKEN, arm, toolMs: 5 };
    const running = hasPoints
      ? startProgram(program, [location, JSON.stringify(options)], { env })
      : home.start(["serve", "--port", "0"], {
          env: { ...env, REPRISE_TOKEN: TOKEN, REPRISE_DATABASE: location },
        });
    const node: Node = {
      name,
      url: "",
      running,
      hasPoints,
      state: "starting",
      wasEnded: false,
      tags: new Set(),
      stopModel: () => model.stop(),
    };
    // it may run exchanges before it is heard to listen
    this.all.push(node);
    const [, url = ""] = await running.waitFor(/^listening on (\S+)$/m);
    return Object.assign(node, { url, state: "alive" as const });
  }

  /** Lets it freeze once it reaches the point; an empty one disarms it. */
  arm(node: Node, point: string): void {
    node.running.child.stdin?.write(`arm ${point}\n`);
  }

  /** Kills it (SIGKILL), keeps which exchanges it ran, and returns their sessions. */
  async kill(node: Node): Promise<readonly string[]> {
    const { store, location } = this.#options;
    await freeze(store, location, node.running);
    const held = await this.#noteDeaths(node);
    await this.#gone(node, "SIGKILL");
    return [...held.keys()].map((name) => name.split(" ")[0] ?? "");
  }

  /** Ends it as an administrator does: it gives back what it runs. */
  async terminate(node: Node): Promise<void> {
    const { code } = await this.#gone(node, "SIGTERM");
    expect(code, node.name).toBe(0);
    const rows = await this.#options.store.read(selectOpen, null);
    expect(heldBy(rows, node.running.pid).map(nameOf), `${node.name} gave back`).toEqual([]);
  }

  /**
   * Freezes it (SIGSTOP) until its leases have run out and another node runs one of its exchanges, and
   * lets it continue. `meanwhile` is done before the leases run out.
   */
  async suspend(node: Node, meanwhile: () => Promise<unknown>): Promise<void> {
    const { store, location } = this.#options;
    const { pid, child } = node.running;
    await freezeAtRest(store, location, node.running);
    node.state = "frozen";
    node.wasEnded = true;
    // first: on a busy machine its leases may run out by themselves meanwhile
    const held = await this.#noteDeaths(node);
    await meanwhile();
    await store.write(expireLeases, { pid });
    await until(`another node runs what ${node.name} ran`, async () => {
      const { records } = await store.read(selectOpen, null);
      const own = records.filter((record) => held.has(nameOf(record)) && isOpen(record));
      const isTaken = own.some(({ n, session_id, revision, state }) => {
        const before = held.get(nameOf({ n, session_id })) ?? 0;
        // once when it was queued again, and once when it was taken
        return state === "running" && revision > before + 1;
      });
      return own.length === 0 || isTaken;
    });
    node.tags.clear();
    node.state = "alive";
    child.kill("SIGCONT");
  }

  /** The process that has the lease of a session. */
  async holderOf(session_id: string): Promise<Node | null> {
    const { sessions } = await this.#options.store.read(selectOpen, null);
    const session = sessions.find(({ id }) => id === session_id);
    const pid = ownerOf(session?.lease_owner ?? null)?.pid;
    return this.all.find(({ running, state }) => running.pid === pid && state !== "gone") ?? null;
  }

  /** Waits for the process, whose errors nobody expects. */
  async #gone(node: Node, signal: "SIGKILL" | "SIGTERM"): Promise<Finished> {
    node.wasEnded = true;
    // from here on others may take what it ran
    node.state = "gone";
    const finished = await node.running.stop(signal);
    await node.stopModel();
    expect(finished.stderr, node.name).toBe("");
    return finished;
  }

  /** The exchanges that it runs, with their revisions. */
  async #noteDeaths(node: Node): Promise<ReadonlyMap<string, number>> {
    const held = heldBy(await this.#options.store.read(selectOpen, null), node.running.pid);
    for (const name of held.map(nameOf)) {
      this.deaths.set(name, (this.deaths.get(name) ?? 0) + 1);
    }
    return new Map(held.map((record) => [nameOf(record), record.revision]));
  }

  /**
   * Keeps a request to the model, and whether its process may make it. What comes after a question is
   * another stretch, for which another node may ask.
   */
  #note(
    node: Node,
    { tag, version, stretch }: Pick<Asked, "tag" | "version"> & { readonly stretch: number },
  ): void {
    const index = this.asked.length;
    const isLate = node.wasEnded;
    this.asked.push({ index, node: node.name, tag, version, at: Date.now(), isLate });
    if (isLate) {
      // it was frozen just before it asked; what it gets, it cannot store
      return;
    }
    const wanted = `${tag} ${stretch}`;
    for (const other of this.all) {
      if (other !== node && isRunning(other) && other.tags.has(wanted)) {
        this.violations.push(`${node.name} asks for ${wanted}, which ${other.name} runs`);
      }
    }
    const root = rootTag(tag);
    if (this.stopped.has(root) && this.stopped.get(root) !== node) {
      this.violations.push(`${node.name} asks for ${tag}, which was stopped before`);
    }
    node.tags.add(wanted);
  }
}

function isRunning({ state }: Node): boolean {
  return state === "starting" || state === "alive";
}

import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "vitest";

import type { Store } from "../../../src/store/store.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import type { Finished, Running } from "../../helpers/process.ts";
import type { Home } from "../../helpers/reprise.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { expireLeases, heldBy, isOpen, nameOf, ownerOf, readRows } from "./rows.ts";
import { answerOf, type Asked } from "./script.ts";
import { freeze, freezeAtRest } from "./frozen.ts";

export const TOKEN = "a-token";

/** One process of the service. */
export interface Node {
  readonly name: string;
  readonly url: string;
  readonly running: Running;
  /** False for `reprise serve` as it is installed, which has no unsafe tool and no points. */
  readonly hasPoints: boolean;
  state: "starting" | "alive" | "frozen" | "gone";
  /** True if it was killed, ended or frozen: it may have lost the answers that were on their way. */
  wasEnded: boolean;
  /** Tags of the messages for which it asked the model, as long as it may hold their sessions. */
  readonly tags: Set<string>;
  readonly stopModel: () => Promise<void>;
}

export interface NodesOptions {
  readonly store: Store;
  readonly location: string;
  readonly home: Home;
  /** The file to which the unsafe tool appends. */
  readonly effects: string;
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

  constructor(options: NodesOptions) {
    this.#options = options;
  }

  get alive(): readonly Node[] {
    return this.all.filter(({ state }) => state === "alive");
  }

  /** `latencyMs` is the time between two pieces of the model's answers. */
  async start({ hasPoints = true, arm = "", latencyMs = 4 } = {}): Promise<Node> {
    const { location, effects, home } = this.#options;
    const name = `node-${this.all.length}`;
    // a separate one for each process, so that it is known who asks
    const model = await startModelServer({
      latencyMs,
      chunkSize: 8,
      answer: (messages, _, offered) => {
        const { scripted, answer } = answerOf(messages, this.asked.length, offered);
        this.#note(node, scripted);
        return answer;
      },
    });
    const env = { ...model.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
    const options = { name, effects, token: TOKEN, arm, toolMs: 5 };
    const running = hasPoints
      ? startProgram("queue-node.ts", [location, JSON.stringify(options)], { env })
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
    const rows = await readRows(this.#options.store);
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
    await meanwhile();
    const held = await this.#noteDeaths(node);
    await store.write(expireLeases, { pid });
    for (let isLeft = true; isLeft; await sleep(5)) {
      const { records } = await readRows(store);
      const own = records.filter((record) => held.has(nameOf(record)) && isOpen(record));
      const isTaken = own.some(({ n, session_id, revision, state }) => {
        const before = held.get(nameOf({ n, session_id })) ?? 0;
        // once when it was queued again, and once when it was taken
        return state === "running" && revision > before + 1;
      });
      isLeft = own.length > 0 && !isTaken;
    }
    node.tags.clear();
    node.state = "alive";
    child.kill("SIGCONT");
  }

  /** The process that has the lease of a session. */
  async holderOf(session_id: string): Promise<Node | null> {
    const { sessions } = await readRows(this.#options.store);
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
    const held = heldBy(await readRows(this.#options.store), node.running.pid);
    for (const name of held.map(nameOf)) {
      this.deaths.set(name, (this.deaths.get(name) ?? 0) + 1);
    }
    return new Map(held.map((record) => [nameOf(record), record.revision]));
  }

  /** Keeps a request to the model, and whether its process may make it. */
  #note(node: Node, { tag, version }: Pick<Asked, "tag" | "version">): void {
    const index = this.asked.length;
    this.asked.push({ index, node: node.name, tag, version });
    if (node.wasEnded) {
      // it was frozen just before it asked; what it gets, it cannot store
      return;
    }
    for (const other of this.all) {
      if (other !== node && isRunning(other) && other.tags.has(tag)) {
        this.violations.push(`${node.name} asks for ${tag}, which ${other.name} runs`);
      }
    }
    const [root = tag] = tag.split(".child");
    if (this.stopped.has(root) && this.stopped.get(root) !== node) {
      this.violations.push(`${node.name} asks for ${tag}, which was stopped before`);
    }
    node.tags.add(tag);
  }
}

function isRunning({ state }: Node): boolean {
  return state === "starting" || state === "alive";
}

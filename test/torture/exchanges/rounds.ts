import { setTimeout as sleep } from "node:timers/promises";

import type { Store } from "../../../src/store/store.ts";
import type { Node, Nodes } from "./nodes.ts";
import { heldBy, selectOpen } from "./rows.ts";
import { until } from "./until.ts";

export interface RoundsOptions {
  readonly store: Store;
  readonly nodes: Nodes;
  readonly random: () => number;
  /** Sends a message, to this node first and in this session if they are given. */
  readonly send: (first?: Node, session?: string) => void;
}

/** What a node writes before it freezes at a point. */
const AT = /^at /m;

/** What is done to the nodes: each round ends at least one of them. */
export class Rounds {
  readonly #store: Store;
  readonly #nodes: Nodes;
  readonly #random: () => number;
  readonly #send: RoundsOptions["send"];
  /** The node that is to get the answers to questions first. */
  firstAsked: Node | undefined;

  constructor({ store, nodes, random, send }: RoundsOptions) {
    this.#store = store;
    this.#nodes = nodes;
    this.#random = random;
    this.#send = send;
  }

  async run(what: string): Promise<void> {
    if (what === "suspend") {
      await this.#suspend(this.#pick(this.#nodes.alive));
    } else if (what === "terminate") {
      const node = await this.#busy();
      await sleep(this.#random() * 100);
      await this.#nodes.terminate(node);
    } else if (what === "random") {
      const node = await this.#busy();
      await sleep(this.#random() * 100);
      for (const session of await this.#nodes.kill(node)) {
        // before another node has found what is left there
        this.#send(undefined, session);
      }
    } else {
      await (what.startsWith("revive") ? this.#reachRevival(what) : this.#reach(what));
      for (const node of this.#nodes.alive) {
        this.#nodes.arm(node, "");
      }
      this.firstAsked = undefined;
      // several may have reached it
      for (let node = this.#atPoint(); node !== undefined; node = this.#atPoint()) {
        await this.#nodes.kill(node);
      }
    }
  }

  /** It may be the last one, and wakes up while its exchange is run elsewhere. */
  async #suspend(node: Node): Promise<void> {
    await this.#untilBusy(node);
    // a slow one, so that what it takes over lasts
    await this.#nodes.suspend(node, () => this.#nodes.start({ latencyMs: 60 }));
    // it is awake once it answers
    await fetch(`${node.url}/livez`);
    await sleep(this.#random() * 300);
    if (this.#random() < 0.5) {
      await this.#nodes.kill(node);
    }
  }

  async #reach(what: string): Promise<void> {
    const target = this.#pick(this.#nodes.alive.filter(({ hasPoints }) => hasPoints));
    this.#nodes.arm(target, what);
    if (what.startsWith("post")) {
      this.#send(target);
    }
    this.firstAsked = what.startsWith("answer") ? target : undefined;
    await until(`a node at ${what}`, () => this.#atPoint() !== undefined);
  }

  async #reachRevival(what: string): Promise<void> {
    // what it ran may have ended by itself, or a node without points may be first
    while (this.#atPoint() === undefined) {
      const victim = await this.#busy();
      for (const node of this.#nodes.alive) {
        this.#nodes.arm(node, node === victim ? "" : what);
      }
      await this.#nodes.kill(victim);
      await this.#nodes.start({ arm: what });
      await until(`revival of what ${victim.name} ran`, async () => {
        const left = heldBy(await this.#store.read(selectOpen, null), victim.running.pid);
        return left.length === 0 || this.#atPoint() !== undefined;
      });
      await sleep(100);
    }
  }

  #atPoint(): Node | undefined {
    return this.#nodes.alive.find(({ running }) => AT.test(running.stdout()));
  }

  async #busy(): Promise<Node> {
    const node = this.#pick(this.#nodes.alive);
    await this.#untilBusy(node);
    return node;
  }

  #untilBusy({ name, running }: Node): Promise<void> {
    return until(`${name} runs something`, async () => {
      return heldBy(await this.#store.read(selectOpen, null), running.pid).length > 0;
    });
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }
}

import { type BaseMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import { Command, REMOVE_ALL_MESSAGES } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import {
  type Files,
  type ProgramGraph,
  programGraph,
  type Row,
  type Task,
  TASK_FAILED,
} from "./program-graph.ts";

/** A saver that knows what it has. */
export interface ProgramSaver extends BaseCheckpointSaver {
  /** Ids of the checkpoints of a thread's own graph, from the first on. */
  checkpointsOf(thread: string): readonly string[];
}

/** The head of a thread, or a checkpoint of it. */
interface At {
  readonly configurable: { readonly thread_id: string; readonly checkpoint_id?: string };
}

interface RandomProgramInput {
  readonly saver: ProgramSaver;
  readonly random: () => number;
  /** Begins the names of its threads. */
  readonly name: string;
  /** What else is done with a thread now and then. */
  readonly maintain?: (thread: string) => Promise<void>;
}

/** A random user of two threads: sends, answers, forks, edits, removes and deletes. */
export class RandomProgram {
  readonly threads: readonly string[];
  readonly #saver: ProgramSaver;
  readonly #maintain: RandomProgramInput["maintain"] | null;
  readonly #random: () => number;
  readonly #graph: ProgramGraph;
  #step = 0;
  #thread: string;

  constructor(input: RandomProgramInput) {
    this.#saver = input.saver;
    this.#maintain = input.maintain ?? null;
    this.#random = input.random;
    this.threads = [`${input.name}, one`, `${input.name}, two`];
    this.#thread = this.threads[0] ?? "";
    this.#graph = programGraph(input.saver);
  }

  async step(): Promise<void> {
    this.#step += 1;
    const chance = this.#random();
    if (chance < 0.1) {
      this.#thread = this.#pick(this.threads);
    }
    const ids = this.#saver.checkpointsOf(this.#thread);
    if (ids.length === 0 || chance < 0.3) {
      return this.#send(this.#at());
    }
    if (chance < 0.42) {
      return this.#send(this.#at(this.#pick(ids)));
    }
    if (chance < 0.5) {
      return this.#invoke(null, this.#at(this.#pick(ids)));
    }
    if (chance < 0.65) {
      return this.#invoke(
        this.#random() < 0.3 ? null : new Command({ resume: `answer ${this.#step}` }),
        this.#at(),
      );
    }
    if (chance < 0.7) {
      return this.#read();
    }
    if (chance < 0.9) {
      return this.#update(this.#random() < 0.7 ? this.#at() : this.#at(this.#pick(ids)));
    }
    if (chance < 0.97) {
      return this.#maintain?.(this.#thread);
    }
    await this.#saver.deleteThread(this.#thread);
  }

  #send(at: At): Promise<void> {
    const tasks = Array.from({ length: this.#below(4) }, (_, index): Task => {
      const does = this.#pick(["finish", "finish", "ask", "fail", "ask in a subgraph"] as const);
      return { name: `${this.#step}.${index}`, does };
    });
    const input = { messages: this.#messages(), tasks, files: this.#files(), rows: this.#rows() };
    return this.#invoke(input, at);
  }

  async #invoke(input: unknown, at: At): Promise<void> {
    const durability = this.#pick(["sync", "async", "exit"] as const);
    try {
      await this.#graph.invoke(input as null, { ...at, durability });
    } catch (error) {
      const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
      if (!errors.every((one) => one instanceof Error && one.message === TASK_FAILED)) {
        throw error;
      }
    }
  }

  async #update(at: At): Promise<void> {
    const { values } = await this.#graph.getState(at);
    const messages: BaseMessage[] = values.messages ?? [];
    await this.#graph.updateState(
      at,
      {
        messages: this.#edits(messages),
        log: [`update ${this.#step}`],
        files: this.#files(),
        rows: this.#rows(),
      },
      this.#pick(["plan", "work", "report"]),
    );
  }

  #edits(messages: readonly BaseMessage[]): BaseMessage[] {
    const message = messages.length === 0 ? undefined : this.#pick(messages);
    const id = message?.id;
    if (message === undefined || id === undefined) {
      return this.#messages();
    }
    switch (this.#pick(["edit", "remove", "touch", "clear", "summarise", "add"] as const)) {
      case "edit":
        return [new HumanMessage({ id, content: `edited in ${this.#step}` })];
      case "remove":
        return [new RemoveMessage({ id })];
      case "touch":
        // in place, as middleware does: the object is the one that was read
        message.additional_kwargs["touched"] = { in: this.#step };
        return [message];
      case "clear":
        return [new RemoveMessage({ id: REMOVE_ALL_MESSAGES })];
      case "summarise":
        return [
          new RemoveMessage({ id: REMOVE_ALL_MESSAGES }),
          new HumanMessage(`a summary of ${messages.length}`),
          ...messages.slice(-3),
        ];
      case "add":
        return this.#messages();
    }
  }

  async #read(): Promise<void> {
    await this.#graph.getState(this.#at(), { subgraphs: true });
    await Array.fromAsync(this.#graph.getStateHistory(this.#at(), { limit: 1 + this.#below(9) }));
  }

  #messages(): BaseMessage[] {
    return Array.from({ length: this.#pick([0, 1, 1, 2, 12]) }, (_, index) => {
      const content = `${this.#step}.${index} ${"text ".repeat(this.#pick([0, 10, 400]))}`;
      return new HumanMessage(this.#random() < 0.5 ? content : { content, id: `q${index}` });
    });
  }

  #files(): Files {
    const name = `/file ${this.#below(4)}.txt`;
    const lines = Array.from({ length: this.#pick([1, 20, 150]) }, (_, index) => `line ${index}`);
    const chance = this.#random();
    return chance < 0.5 ? {} : { [name]: chance < 0.6 ? null : { lines } };
  }

  #rows(): Row[] {
    return Array.from({ length: this.#pick([0, 0, 1, 30]) }, () => {
      return { id: this.#below(60), text: `${this.#step} ${"cell ".repeat(this.#below(50))}` };
    });
  }

  #at(checkpoint_id?: string): At {
    const thread_id = this.#thread;
    return {
      configurable: checkpoint_id === undefined ? { thread_id } : { thread_id, checkpoint_id },
    };
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[this.#below(items.length)];
    if (item === undefined) {
      throw new RangeError("nothing to pick from");
    }
    return item;
  }
}

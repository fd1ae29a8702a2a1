import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import { RepriseError } from "../../core/errors.ts";
import { DelegatingSaver } from "../../langgraph/delegating-saver.ts";

/**
 * The saver that a graph is compiled with before its session is held, so that an unsuitable graph is
 * refused before anything is stored. It saves nothing until it is given the exchange's own saver.
 */
export class LateSaver extends DelegatingSaver {
  #saver: BaseCheckpointSaver | null = null;

  /** Everything goes to this saver while the work runs, and to the one before it afterwards. */
  async using<Result>(saver: BaseCheckpointSaver, work: () => Promise<Result>): Promise<Result> {
    const before = this.#saver;
    this.#saver = saver;
    try {
      return await work();
    } finally {
      this.#saver = before ?? saver;
    }
  }

  protected override async delegate<Output>(
    work: (saver: BaseCheckpointSaver) => Promise<Output>,
  ): Promise<Output> {
    if (this.#saver === null) {
      throw new RepriseError(
        "graph_unsuitable",
        "The graph used its checkpointer before its session was held. Use it only while the graph runs.",
      );
    }
    return work(this.#saver);
  }
}

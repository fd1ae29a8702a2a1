import { pathToFileURL } from "node:url";

import { isRepriseError, RepriseError } from "../../core/errors.ts";
import type { Exchanger, ExchangerConfig, OpenedAgent } from "../../exchange/exchanger.ts";
import { createFeed } from "../../exchange/live/feed.ts";
import { thisProcess } from "../../store/records/leases/this-process.ts";
import { attachSaver } from "./attach-saver.ts";
import type { FoundAgent } from "./find-agent.ts";
import { createGraphRunner, type GraphAgent, nameOf } from "./graph-runner.ts";
import { LateSaver } from "./late-saver.ts";

/**
 * Loads an agent's module. It exports a function of the checkpointer that returns a compiled graph,
 * or a graph that was compiled without one, and if it likes `name` and `repeatable`.
 *
 * Error codes: `graph_unsuitable`, `agent_failed` (what the module throws is the cause).
 */
export async function openAgent(found: FoundAgent): Promise<Omit<OpenedAgent, keyof Disposable>> {
  const module = await loaded(found);
  const { graph } = module;
  const attached = await attachSaver(graph, new LateSaver()).catch((error: unknown) => {
    throw isRepriseError(error, "agent_failed") ? moduleFailed(found, error.cause) : error;
  });
  const name = nameOf(module.name ?? attached.name ?? found.name);
  const agent = { ...module, name };
  return {
    name,
    openExchanger: (config) => Promise.resolve(exchangerOf(agent, config)),
  };
}

function moduleFailed({ file }: FoundAgent, cause: unknown): RepriseError {
  const sentence = `The agent's module ${file} cannot be loaded: its own code failed. Fix it, then try again.`;
  return new RepriseError("agent_failed", sentence, { cause });
}

async function loaded(found: FoundAgent): Promise<GraphAgent> {
  const { file, exported } = found;
  let module: Record<string, unknown>;
  try {
    module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    throw moduleFailed(found, cause);
  }
  const names = exported === null ? ["agent", "graph", "default"] : [exported];
  const name = names.find((each) => module[each] !== undefined);
  if (name === undefined) {
    throw new RepriseError(
      "graph_unsuitable",
      "The agent's module does not export the agent. Export it as `agent` or as the default.",
    );
  }
  const { name: ownName, repeatable = [] } = module;
  if (
    (ownName !== undefined && typeof ownName !== "string") ||
    !Array.isArray(repeatable) ||
    !repeatable.every((tool) => typeof tool === "string")
  ) {
    throw new RepriseError(
      "graph_unsuitable",
      "The agent's module exports a `name` that is not a text, or `repeatable` that is not a list of tools' names. Correct it.",
    );
  }
  return { graph: module[name], name: ownName, repeatable };
}

function exchangerOf(
  agent: GraphAgent,
  { store, feed = createFeed({ store }) }: ExchangerConfig,
): Exchanger {
  const run = createGraphRunner({
    store,
    feed,
    owner: thisProcess("reprise"),
  });
  return {
    exchange: ({ text, keep_partial: _, ...request }, live) =>
      run({ ...request, agent, input: text }, live),
    compact: () =>
      Promise.reject(
        new RepriseError(
          "graph_unsuitable",
          "Reprise cannot summarise the context of this agent. Let the agent do it, or begin a fresh context with /clear.",
        ),
      ),
    contextUse: () => Promise.resolve(null),
  };
}

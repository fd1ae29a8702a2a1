import type { CopyLangGraph } from "./store/portable/thread-copies.ts";
import type { Exchanger, ExchangerConfig, OpenedAgent } from "./exchange/exchanger.ts";

/**
 * Makes the agent, whose libraries are loaded then: most commands need none of them. Only this module
 * and `main.ts` may import from any folder of `src/`. Error codes: `config_invalid`.
 */
export async function openExchanger(config: ExchangerConfig): Promise<Exchanger> {
  const { env, protectedPaths, feed, ...rest } = config;
  const [
    { createExchanger },
    { createFeed },
    { exchangeLimits },
    { modelConfig },
    { thisProcess },
  ] = await Promise.all([
    import("./agent/exchange.ts"),
    import("./exchange/live/feed.ts"),
    import("./exchange/exchange-tree.ts"),
    import("./exchange/models/config.ts"),
    import("./store/leases/this-process.ts"),
  ]);
  return createExchanger({
    ...rest,
    feed: feed ?? createFeed(config),
    models: modelConfig(env),
    protectedPaths: [config.store.location, ...protectedPaths],
    owner: thisProcess("reprise"),
    limits: exchangeLimits(env),
  });
}

/** Copies threads of LangGraph's own savers. Loads LangChain's messages. */
export const copyLangGraph: CopyLangGraph = async (input) => {
  const { copyThreads } = await import("./langgraph/official/copy-threads.ts");
  return copyThreads(input);
};
/**
 * Loads the agent that `--agent` names, with the LangChain packages of its folder.
 *
 * Error codes: `file_unreadable`, `config_invalid`, `graph_unsuitable`, `agent_failed`.
 */
export async function openAgent(cwd: string, reference: string): Promise<OpenedAgent> {
  const { findAgent } = await import("./agent/graph/find-agent.ts");
  const found = await findAgent(cwd, reference);
  const { useLangChainOf } = await import("./agent/graph/use-peers.ts");
  useLangChainOf(found.file);
  // the build makes a separate bundle of it, without LangChain
  const { openAgent: open } = await import("./agent/graph/open-agent.ts");
  return open(found);
}

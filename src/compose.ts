import type { CopyLangGraph } from "./store/portable/thread-copies.ts";
import type { Exchanger, ExchangerConfig } from "./exchange/exchanger.ts";

/**
 * Makes the agent, whose libraries are loaded then: most commands need none of them. Only this module
 * and `main.ts` may import from any folder of `src/`. Error codes: `config_invalid`.
 */
export async function openExchanger(config: ExchangerConfig): Promise<Exchanger> {
  const { env, protectedPaths, ...rest } = config;
  const [{ createExchanger }, { exchangeLimits }, { modelConfig }, { thisProcess }] =
    await Promise.all([
      import("./agent/exchange.ts"),
      import("./exchange/exchange-tree.ts"),
      import("./exchange/models/config.ts"),
      import("./store/leases/this-process.ts"),
    ]);
  return createExchanger({
    ...rest,
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

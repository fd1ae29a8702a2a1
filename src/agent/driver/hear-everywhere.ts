import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { registerConfigureHook, setContextVariable } from "@langchain/core/context";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";

/**
 * Runs the work so that the handlers hear each model and tool that is called in its async context,
 * also one that is called with other callbacks: in LangChain, those replace what a node inherits.
 */
export function hearEverywhere<Result>(
  handlers: readonly BaseCallbackHandler[],
  work: () => Promise<Result>,
): Promise<Result> {
  const storage = AsyncLocalStorageProviderSingleton.getInstance();
  return storage.run(storage.getStore(), () => {
    for (const handler of handlers) {
      registerConfigureHook({ contextVar: handler.name, inheritable: true });
      setContextVariable(handler.name, handler);
    }
    return work();
  });
}

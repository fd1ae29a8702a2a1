import type { Exchanger, ExchangerConfig } from "./exchange/exchanger.ts";
import { isPostgres } from "./store/location.ts";
import type { Store, StoreOptions } from "./store/store.ts";

/**
 * Opens a store from its location. Only this module and `main.ts` may import from any folder of `src/`.
 * An engine and the agent's libraries are loaded when they are opened: most commands need one of
 * them or none.
 */
export async function openStore({ location, ...options }: StoreOptions): Promise<Store> {
  if (isPostgres(location)) {
    const { openPostgresStore } = await import("./store/engines/postgres/open.ts");
    return openPostgresStore({ url: location, ...options });
  }
  const { openSqliteStore } = await import("./store/engines/sqlite/open.ts");
  return openSqliteStore({ path: location, ...options });
}

/** Error codes: `config_invalid`. */
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

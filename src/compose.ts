import type { PersonaFolders } from "./rules/personas/folders.ts";
import type { ModelTrial } from "./rules/models/trial.ts";
import type { CopyLangGraph } from "./store/portable/thread-copies.ts";
import type { CheckPlan } from "./agent/tools/hand-in-plan.ts";
import type { Exchanger, ExchangerConfig, OpenedAgent } from "./exchange/exchanger.ts";

/**
 * Makes the agent, whose libraries are loaded then: most commands need none of them. Only this module
 * and `main.ts` may import from any folder of `src/`. Error codes: `config_invalid`.
 */
export async function openExchanger(config: ExchangerConfig): Promise<Exchanger> {
  const { env, protectedPaths, feed, outputFolder, mcp, sandbox, ...rest } = config;
  const [
    { createRunExchanger },
    { createFeed },
    { exchangeLimits },
    { modelConfig },
    { thisProcess },
    { createCommandSandbox },
  ] = await Promise.all([
    import("./agent/plans/run-exchanger.ts"),
    import("./exchange/live/feed.ts"),
    import("./core/exchange-limits.ts"),
    import("./rules/models/config.ts"),
    import("./store/records/leases/this-process.ts"),
    import("./agent/sandbox/command-sandbox.ts"),
  ]);
  const ownPaths = [config.store.location, ...protectedPaths];
  return createRunExchanger({
    ...rest,
    feed: feed ?? createFeed(config),
    commands:
      outputFolder === undefined
        ? undefined
        : {
            env,
            outputFolder,
            sandbox:
              sandbox === undefined
                ? undefined
                : createCommandSandbox(sandbox, { ...config, protectedPaths: ownPaths }),
          },
    mcp: mcp && { ...mcp, env },
    models: modelConfig(env),
    protectedPaths: ownPaths,
    owner: thisProcess("reprise"),
    limits: exchangeLimits(env),
    checkPlan: createPlanCheck(config.personas),
  });
}

/** Validates plans as `plan validate` does in their folder. The validator is loaded with the first one. */
export function createPlanCheck(personas: PersonaFolders): CheckPlan {
  return async (content, repoPath) => {
    const [{ validatePlan }, { phaseGraph }, { loadSchemas }, { createWorkerPool }, { planNames }] =
      await Promise.all([
        import("./artifacts/plans/validate-plan.ts"),
        import("./artifacts/plans/phase-graph.ts"),
        import("./artifacts/registry.ts"),
        import("./artifacts/project/worker-pool.ts"),
        import("./rules/personas/plan-names.ts"),
      ]);
    const pool = createWorkerPool();
    // a folder whose schemas cannot be read still has those that come with Reprise
    const registry = await loadSchemas(repoPath, pool).catch(() => loadSchemas(null, pool));
    const known = { ...(await planNames(personas, repoPath)), schemas: registry.ids };
    const schema = await registry.phasePlan();
    await pool.close();
    const { plan, findings } = validatePlan(content, { syntax: "json", schema, known });
    return {
      findings,
      plan:
        plan === null
          ? null
          : {
              runId: plan.runId,
              text: `${JSON.stringify(plan, null, 2)}\n`,
              waves: phaseGraph(plan).waves,
            },
    };
  };
}

/** Loads the client of the model's provider. Error codes: as `tryModel` of the agent. */
export async function tryModel(trial: ModelTrial): Promise<void> {
  const { tryModel: send } = await import("./agent/models/try-model.ts");
  await send(trial);
}

/** Copies threads of LangGraph's own savers. Loads LangChain's messages. */
export const copyLangGraph: CopyLangGraph = async (input) => {
  const { copyThreads } = await import("./compat/langgraph/copy-threads.ts");
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
  using until = new DisposableStack();
  until.use(useLangChainOf(found.file));
  // the build makes a separate bundle of it, without LangChain
  const { openAgent: open } = await import("./agent/graph/open-agent.ts");
  const agent = await open(found);
  const held = until.move();
  return { ...agent, [Symbol.dispose]: () => held.dispose() };
}

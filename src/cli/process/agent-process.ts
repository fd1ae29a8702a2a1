import { RepriseError } from "../../core/errors.ts";
import type { ExchangeEvent } from "../../exchange/events.ts";
import type { Exchanger, Live, OpenedAgent } from "../../exchange/exchanger.ts";
import { asksForJson, type CliContext } from "./context.ts";
import { showError } from "./show-error.ts";

/** Time for what an agent still sends when the work is done, such as traces. */
const GRACE_MS = 1000;

const ENDED =
  "The program ended while the agent was running. If the agent's code calls process.exit, remove that; then continue the exchange.";

/** The agent's code runs in our process: it may end it, or leave open what keeps it running. */
export function createAgentProcess(cli: CliContext, process: NodeJS.Process) {
  const show = (sentence: string): number =>
    showError(cli, new RepriseError("agent_failed", sentence), asksForJson(cli.args));

  /** The exchanges that run, and the last event of each. */
  const running = new Map<Live, ExchangeEvent | null>();
  const onEnd = (): void => {
    for (const [{ listener }, last] of running) {
      if (last !== null) {
        const { exchange_id, session_id } = last;
        listener({ type: "failed", exchange_id, session_id, code: "agent_failed", detail: ENDED });
      }
    }
    process.exitCode = show(ENDED);
  };
  const exchange = async (
    exchanger: Exchanger,
    ...[request, live]: Parameters<Exchanger["exchange"]>
  ): ReturnType<Exchanger["exchange"]> => {
    const followed: Live = {
      ...live,
      listener: (event) => {
        running.set(followed, event);
        live.listener(event);
      },
    };
    if (running.size === 0) {
      process.on("exit", onEnd);
    }
    running.set(followed, null);
    try {
      return await exchanger.exchange(request, followed);
    } finally {
      running.delete(followed);
      if (running.size === 0) {
        process.off("exit", onEnd);
      }
    }
  };

  return {
    /** The agent, whose exchanges say why they end if it ends the process. */
    guarded: (agent: OpenedAgent): OpenedAgent => ({
      ...agent,
      openExchanger: async (config) => {
        const exchanger = await agent.openExchanger(config);
        return {
          ...exchanger,
          exchange: (request, live) => exchange(exchanger, request, live),
        };
      },
    }),

    /** Says why if the process ends before the agent is loaded. */
    whileLoading: async <Result>(load: () => Promise<Result>): Promise<Result> => {
      const onExit = (code: number): void => {
        const failed = show("The agent's module ended the program while it was loaded. Fix it.");
        process.exitCode = code === 0 ? failed : code;
      };
      const onNothingLeft = (): void => {
        process.off("exit", onExit);
        cli.exit(show("The agent's module never finishes loading: nothing is left to wait for."));
      };
      process.on("exit", onExit).on("beforeExit", onNothingLeft);
      try {
        return await load();
      } finally {
        process.off("exit", onExit).off("beforeExit", onNothingLeft);
      }
    },

    /** Ends the process whose work is done, whatever the agent has left open. */
    endSoon: (): void => {
      setTimeout(() => cli.exit(cli.exitCode), GRACE_MS).unref();
    },
  };
}

import { RepriseError } from "../core/errors.ts";
import type { CliContext } from "./context.ts";
import { asksForJson, showError } from "./show-error.ts";

/** Time for what an agent still sends when the work is done, such as traces. */
const GRACE_MS = 1000;

/** The agent's code runs in our process: it may end it, or leave open what keeps it running. */
export function createAgentProcess(cli: CliContext, process: NodeJS.Process) {
  const show = (sentence: string): number =>
    showError(cli, new RepriseError("agent_failed", sentence), asksForJson(cli.args));

  return {
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

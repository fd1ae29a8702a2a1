import type { Conversation } from "../../exchange/conversation.ts";
import type { SandboxSource } from "../../workspace/sandbox/probe.ts";
import { workFolder } from "../../rules/trust/wide-folder.ts";
import { trustSource } from "../process/config.ts";
import { type CliContext, note } from "../process/context.ts";

/** Whether commands of a session run in a sandbox. */
export interface SandboxNote {
  /**
   * Says once that they would run without one. It starts a process, so the terminal calls it when the first message is
   * sent: the prompt does not wait for it.
   */
  beforeSend(): Promise<void>;
  /** Null before that, and if no command can run. */
  hasSandbox(): boolean | null;
}

export function createSandboxNote(input: {
  readonly cli: CliContext;
  readonly conversation: Conversation;
  readonly sandbox: SandboxSource;
}): SandboxNote {
  const { cli, conversation, sandbox } = input;
  let isDone = false;
  let hasSandbox: boolean | null = null;
  const beforeSend = async (): Promise<void> => {
    if (isDone) {
      return;
    }
    isDone = true;
    const { mayRunCommands } = await import("../../rules/trust/command-folder.ts");
    const trust = trustSource(cli);
    const folder = await workFolder(conversation.planned().repo_path, trust);
    if (!(await mayRunCommands(folder, trust))) {
      return;
    }
    const { reason } = await sandbox.probe();
    hasSandbox = reason === null;
    if (reason !== null) {
      note(
        cli,
        `no sandbox (${reason}): a command of the agent can do whatever you can. Each asks, unless a rule or the mode all allows it.`,
      );
    }
  };
  return { beforeSend, hasSandbox: () => hasSandbox };
}

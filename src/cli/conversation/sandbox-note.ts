import type { Conversation } from "../../exchange/conversation.ts";
import type { SandboxSource } from "../../exchange/sandbox/probe.ts";
import { workFolder } from "../../exchange/trust/wide-folder.ts";
import { trustSource } from "../config.ts";
import { type CliContext, note } from "../context.ts";

/**
 * Makes what says, once, that commands of this session would run without a sandbox. It starts a process, so the
 * terminal calls it when the first message is sent: the prompt does not wait for it.
 */
export function createSandboxNote(input: {
  readonly cli: CliContext;
  readonly conversation: Conversation;
  readonly sandbox: SandboxSource;
}): () => Promise<void> {
  const { cli, conversation, sandbox } = input;
  let isDone = false;
  return async () => {
    if (isDone) {
      return;
    }
    isDone = true;
    const { mayRunCommands } = await import("../../exchange/commands/command-folder.ts");
    const trust = trustSource(cli);
    const folder = await workFolder(conversation.planned().repo_path, trust);
    const reason = (await mayRunCommands(folder, trust)) ? (await sandbox.probe()).reason : null;
    if (reason !== null) {
      note(
        cli,
        `no sandbox (${reason}): a command of the agent can do whatever you can. Each asks, unless a rule or the mode all allows it.`,
      );
    }
  };
}

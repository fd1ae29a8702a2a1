import type { RunnableConfig } from "@langchain/core/runnables";
import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";

import { visible } from "../../core/text/terminal-text.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { resolvePath } from "../../rules/paths/resolve-path.ts";
import type { Sandbox } from "../../rules/paths/sandbox.ts";
import { GIT_COMMIT, LIST_FILES } from "../../rules/tools/built-in.ts";
import { makeCommit } from "../git/make-commit.ts";
import { prepareCommit } from "../git/prepare-commit.ts";
import { createGit } from "../git/run-git.ts";
import { asksFirst, beginCall } from "../permit/tool-asking.ts";
import type { CommandTool } from "./run-command.ts";
import { type CallConfig, reportFailure } from "./tool-result.ts";

const MAX_MESSAGE = 10_000;
const MAX_PATHS = 200;
/** Changed files that a question names; more are counted. */
const MAX_SHOWN = 100;

const SCHEMA = z.object({
  message: z.string().describe("of the commit"),
  paths: z
    .array(z.string())
    .describe("files and folders whose changes are committed, relative to the repository's top"),
});
type Input = z.output<typeof SCHEMA>;

export const GIT_COMMIT_FORM = {
  name: GIT_COMMIT.name,
  description:
    "Commit the changes of files and folders with git, on the current branch. Commands in the sandbox cannot: git's folder is read-only for them. No hooks run. The user may be asked first.",
  schema: SCHEMA,
};

/** Commits changes of paths, without hooks and programs that the repository names. Asks with what is committed. */
export function gitCommitTool(context: CommandTool): StructuredToolInterface {
  return asksFirst(
    tool(
      reportFailure((input: Input, config) =>
        context.run((sandbox) => commit(context, { input, sandbox, config })),
      ),
      GIT_COMMIT_FORM,
    ),
  );
}

async function commit(
  { permit, commands }: CommandTool,
  {
    input,
    sandbox,
    config,
  }: {
    readonly input: Input;
    readonly sandbox: Sandbox;
    readonly config: CallConfig & RunnableConfig;
  },
): Promise<string> {
  const { message, paths } = input;
  if (message.trim() === "" || message.length > MAX_MESSAGE || visible(message) !== message) {
    throw refusal("the message is empty, too long or has control characters; write another one");
  }
  if (paths.length === 0 || paths.length > MAX_PATHS) {
    throw refusal(`name 1 to ${MAX_PATHS} files or folders`);
  }
  const resolved = await Promise.all(paths.map((path) => resolvePath(sandbox, path, LIST_FILES)));
  const git = createGit({
    folder: sandbox.root,
    env: commands.environment(),
    signal: config.signal,
  });
  const prepared = await prepareCommit(
    git,
    resolved.map(({ shown }) => shown),
  );
  const { changes, parent, tree } = prepared;
  const more = changes.length - MAX_SHOWN;
  const shown = [
    "A commit of these changes, without hooks:",
    ...changes.slice(0, MAX_SHOWN).map(visible),
    ...(more > 0 ? [`… and ${more} more`] : []),
    "",
    message,
  ].join("\n");
  await permit(config, { tool: GIT_COMMIT, file: null, command: null }, async () => ({
    shown,
    basis: JSON.stringify([parent, tree, message]),
  }));
  config.signal?.throwIfAborted();
  await beginCall(config);
  const id = await makeCommit(git, prepared, message);
  return `Committed ${id.slice(0, 12)}: ${changes.length} changed files.`;
}

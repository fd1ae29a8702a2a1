import { resolve } from "node:path";

import type { Command } from "commander";

import { RepriseError } from "../../../core/errors.ts";
import type { RunningNode } from "../../../exchange/nodes/node.ts";
import { databaseLocation, settingsOf } from "../../process/config.ts";
import { type CliContext, note } from "../../process/context.ts";
import { databaseOption, openDatabase } from "../../process/database.ts";
import { ownSecrets } from "../../process/own-secrets.ts";
import { stopRequest } from "../../process/signals.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { refuseNoFolder } from "../refuse-no-folder.ts";
import { mcpOptions } from "./mcp-answers.ts";
import type { McpServeOptions } from "./mcp-serve.ts";
import { createServiceFeed, runNode } from "./run-node.ts";
import { servedFolders } from "./serve-folders.ts";
import { createServiceLog } from "./service-log.ts";
import { serviceOptions } from "./service-options.ts";

/**
 * Speaks with one MCP client until it closes its end, or a signal comes. With `--allow-write` the process runs queued
 * exchanges, as `reprise serve` does, once the client has queued one; those that still run at the end are given back.
 *
 * Error codes: `invalid_usage`, `config_invalid`, `database_*`.
 */
export async function serveMcp(
  cli: CliContext,
  command: Command,
  options: McpServeOptions,
): Promise<void> {
  const { allowWrite: mayWrite = false, jobs } = options;
  if (!mayWrite && options.repos !== undefined) {
    throw wrongUsage("--repos needs --allow-write: without it no exchange runs.");
  }
  await settingsOf(cli).config();
  const log = createServiceLog(cli, { all: false });
  const runs = mayWrite && jobs > 0;
  const folders = await servedFolders(cli, { ...options, jobs: runs ? jobs : 1 });
  const location = databaseLocation(cli, databaseOption(command));
  const secrets = ownSecrets(cli, { location });
  const project = options.project === undefined ? undefined : resolve(cli.cwd, options.project);
  if (project !== undefined) {
    await refuseNoFolder(project, "The folder of --project");
  }
  const stopped = stopRequest(cli);
  await using store = await openDatabase(cli, command, {
    notice: (sentence) => log({ level: "warn", event: "notice", sentence }),
  });
  const files = { location, tokenFiles: [] };
  const feed = runs ? await createServiceFeed(store, log) : undefined;
  const [{ openInProcess }, { serveStreams }] = await Promise.all([
    import("../../../http/in-process.ts"),
    import("../../../mcp-serve/stdio.ts"),
  ]);
  const service = serviceOptions(cli, { store, files, secrets, agent: null });
  const inProcess = await openInProcess({
    ...service,
    project,
    live: feed,
    folders: runs ? folders : undefined,
    log,
    observe: () => undefined,
  });
  const late: { node: Promise<RunningNode> | null } = { node: null };
  const startNode = (): void => {
    late.node ??= runNode(cli, {
      store,
      jobs,
      folders,
      agent: null,
      log,
      defaultAnswer: undefined,
      onEvent: () => undefined,
      feed,
      secrets,
      files,
    });
  };
  const send = inProcess.fetchAs(mayWrite ? "owner" : "reader");
  const served = await mcpOptions({
    version: cli.version,
    mayWrite,
    redact: options.redact === true ? service.redact : null,
  });
  const streams = { input: cli.stdin, output: cli.stdout.sink("json") };
  if (cli.stdin.isTTY === true) {
    note(
      cli,
      "This is a server for an MCP client, which starts it. It reads messages of the protocol here; Ctrl-C ends it.",
    );
  }
  const server = serveStreams(served, streams, async (input, init) => {
    if (runs && init?.method === "POST" && typeof input === "string" && QUEUES.test(input)) {
      startNode();
    }
    return send(input, init);
  });
  const by = await Promise.race([stopped, server.ended]);
  await server.close();
  const node = await late.node;
  await Promise.all([inProcess.close(), node?.close()]);
  if (by === "too_large") {
    throw new RepriseError(
      "body_too_large",
      "The client sent a message that is too large; one holds 6 MiB at most. Start the server again.",
    );
  }
}

/** Path of the call that queues an exchange. */
const QUEUES = /\/exchanges$/;

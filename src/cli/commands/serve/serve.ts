import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { Command } from "commander";
import { packageFile } from "../../../core/package-file.ts";
import { type CliContext, printLines } from "../../process/context.ts";
import { databaseOption, openDatabase, withStore } from "../../process/database.ts";
import { databaseLocation, servicesFolderPath, settingsOf } from "../../process/config.ts";
import { ownSecrets } from "../../process/own-secrets.ts";
import { createServiceLog } from "./service-log.ts";
import type { RunningNode } from "../../../exchange/nodes/node.ts";
import { refuseNoFolder } from "../refuse-no-folder.ts";
import { stopRequest } from "../../process/signals.ts";
import type { Log } from "../../../http/metrics/request-log.ts";
import type { Store } from "../../../store/store.ts";
import { mcpAnswers } from "./mcp-answers.ts";
import { createServiceFeed, runNode } from "./run-node.ts";
import { serviceOptions } from "./service-options.ts";
import { MIB, type ServeOptions, serveWithOptions } from "./serve-options.ts";

/** `serve`: the HTTP service, until SIGINT, SIGTERM or SIGHUP. */
export function serveCommand(cli: CliContext): Command {
  const command = serveWithOptions();
  command.action((options: ServeOptions) => serve(cli, command, options));
  return withStore(command);
}

/**
 * How much a service's heap may grow before it is collected again. V8 lets it grow fourfold: 200 clients that read
 * nothing cost 640 MB then, and 290 MB so.
 */
const HEAP_GROWTH = "--heap-growing-percent=50";

async function serve(cli: CliContext, command: Command, options: ServeOptions): Promise<void> {
  if (options.processes !== undefined && options.process === undefined) {
    const { serveProcesses } = await import("./serve-processes.ts");
    const log = createServiceLog(cli, { all: options.log === true });
    await serveProcesses(cli, { ...options, processes: options.processes, log });
    return;
  }
  setFlagsFromString(HEAP_GROWTH);
  // a config that cannot be used stops the start
  await settingsOf(cli).config();
  const process = options.processes === undefined ? undefined : options.process;
  const log = createServiceLog(cli, { all: options.log === true, process });
  const { serviceTokens } = await import("./service-tokens.ts");
  const tokens = await serviceTokens(cli, options, log);
  const location = databaseLocation(cli, databaseOption(command));
  const secrets = ownSecrets(cli, {
    location,
    tokens: [tokens.token, tokens.readToken, tokens.metricsToken],
  });
  const { servedFolders } = await import("./serve-folders.ts");
  const folders = await servedFolders(cli, options);
  using agent = options.agent === undefined ? null : await cli.openAgent(cli.cwd, options.agent);
  const stopped = stopRequest(cli, process === undefined ? null : cli.stdin);
  await using store = await openDatabase(cli, command, {
    notice: (sentence) => log({ level: "warn", event: "notice", sentence }),
  });
  const { tokenFile, readTokenFile, metricsTokenFile } = options;
  const files = { location, tokenFiles: [tokenFile, readTokenFile, metricsTokenFile] };
  const { startServer } = await import("../../../http/serve.ts");
  const feed = options.jobs === 0 ? undefined : await createServiceFeed(store, log);
  let node: RunningNode | null = null;
  const service = {
    ...serviceOptions(cli, { store, files, secrets, agent }),
    // naming a folder is the consent to its schemas; the working folder is never taken by itself
    project: await projectFolder(cli, options.project),
    stream: { pollMs: options.streamPollMs },
    live: feed,
    folders: options.jobs === 0 ? undefined : folders,
    log,
  };
  const server = await startServer({
    ...service,
    host: options.host,
    port: options.port,
    shared: process !== undefined,
    process,
    unsent: { maxBytes: options.unsentMib * MIB },
    ...tokens,
    allowHosts: options.allowHost,
    allowOrigins: options.allowOrigin,
    publicPath: options.publicPath,
    trustProxy: options.trustProxy === true,
    page: options.page ? fileURLToPath(packageFile("dist/page")) : undefined,
    jobs: () => ({ running: node?.running ?? 0, max: options.jobs }),
    mcp: mcpAnswers(
      {
        version: cli.version,
        mayWrite: options.mcpWrite === true,
        redact: options.mcpRedact === true ? service.redact : null,
      },
      service,
    ),
  });
  const { jobs, answerAfter: defaultAnswer } = options;
  const onEvent = server.app.countUse;
  const running = {
    store,
    jobs,
    folders,
    agent,
    log,
    defaultAnswer,
    onEvent,
    feed,
    secrets,
    files,
  };
  node = jobs === 0 ? null : await runNode(cli, running);
  const stopAnswering = jobs === 0 ? await answerForNodes(store, log) : null;
  const { version, pid } = cli;
  const { url } = server;
  const { location: database } = store;
  const token = tokens.madeIn === null ? [] : [`token file ${tokens.madeIn}`];
  const { pageAddress, pageLines } = await import("./page-address.ts");
  const page = await pageLines({
    ...options,
    ...tokens,
    store,
    url,
    shown: cli.stdout.isTTY || options.shown === true,
  });
  const forget = await recordedAt(cli, options, database, pageAddress(url, options.publicPath));
  printLines(cli, [
    `listening on ${url}`,
    `database ${database}`,
    ...token,
    ...page,
    `version ${version}`,
  ]);
  log({ level: "info", event: "started", version, pid, url, database });
  log({ level: "info", event: "stopping", signal: await stopped });
  await forget();
  server.retire();
  void node?.retire();
  stopAnswering?.();
  await sleep(options.drain * 1000);
  const watchdog = setTimeout(() => {
    // a database that does not answer would keep the process until its time-outs
    log({ level: "error", event: "stopped", unfinished: true });
    cli.exit(1);
  }, STOP_MS);
  await Promise.all([server.close(), node?.close()]);
  await store.close();
  clearTimeout(watchdog);
  log({ level: "info", event: "stopped", unfinished: false });
}

/** Lets questions in a terminal name the page; of processes that share a port the first one notes it. */
async function recordedAt(
  cli: CliContext,
  options: Pick<ServeOptions, "page" | "process">,
  database: string,
  address: string,
): Promise<() => Promise<void>> {
  if (!options.page || (options.process ?? 1) !== 1) {
    return async () => undefined;
  }
  const { recordPage } = await import("../../process/page-record.ts");
  return recordPage(servicesFolderPath(cli), database, address);
}

/** Answers for the nodes of its database, in a service that runs no exchanges. */
async function answerForNodes(store: Store, log: Log): Promise<() => void> {
  const [{ keepAnswering }, { reportSeldom }, { logFailure }] = await Promise.all([
    import("../../../exchange/answer-due.ts"),
    import("../../../exchange/report-seldom.ts"),
    import("../../../http/metrics/request-log.ts"),
  ]);
  return keepAnswering({ store, onFailure: reportSeldom((error) => logFailure(log, error)) });
}

async function projectFolder(cli: CliContext, named?: string): Promise<string | undefined> {
  const folder = named === undefined ? undefined : resolve(cli.cwd, named);
  if (folder !== undefined) {
    await refuseNoFolder(folder, "The folder of --project");
  }
  return folder;
}

/** Milliseconds that closing may take after the drain; then the process exits. */
const STOP_MS = 9500;

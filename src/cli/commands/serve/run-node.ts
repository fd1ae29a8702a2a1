import type { DefaultAnswer } from "../../../core/questions.ts";
import { QUEUE_POLL_MS } from "../../../core/limits.ts";
import type { ExchangeListener } from "../../../exchange/events.ts";
import type { ExchangerConfig, OpenedAgent } from "../../../exchange/exchanger.ts";
import type { Feed } from "../../../exchange/live/feed.ts";
import type { RunningNode } from "../../../exchange/nodes/node.ts";
import type { ServedFolders } from "../../../exchange/served-folders.ts";
import type { Log } from "../../../http/metrics/request-log.ts";
import type { Store } from "../../../store/store.ts";
import { exchangerConfig, type NamedFiles } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";

/** Runs queued exchanges in this process, and announces in which folders. Error codes: `config_invalid`. */
export async function runNode(
  cli: CliContext,
  {
    log,
    agent,
    feed,
    defaultAnswer,
    secrets,
    files,
    ...options
  }: Pick<ExchangerConfig, "secrets"> & {
    readonly files: NamedFiles;
    readonly defaultAnswer: DefaultAnswer | undefined;
    readonly store: Store;
    readonly jobs: number;
    readonly folders: ServedFolders;
    readonly agent: OpenedAgent | null;
    readonly log: Log;
    readonly onEvent: ExchangeListener;
    readonly feed: Feed | undefined;
  },
): Promise<RunningNode> {
  const [{ startNode }, { logFailure }] = await Promise.all([
    import("../../../exchange/nodes/node.ts"),
    import("../../../http/metrics/request-log.ts"),
  ]);
  const openExchanger = agent?.openExchanger ?? cli.openExchanger;
  const config = { ...exchangerConfig(cli, options.store, files), secrets, defaultAnswer };
  return startNode({
    ...options,
    agent: agent?.name ?? null,
    openExchanger: () => openExchanger(feed === undefined ? config : { ...config, feed }),
    pollMs: QUEUE_POLL_MS,
    onFailure: (error) => logFailure(log, error),
  });
}

/** The exchanges of the node report to it, and the readers of the service hear from it at once. */
export async function createServiceFeed(store: Store, log: Log): Promise<Feed> {
  const [{ createFeed }, { logFailure }] = await Promise.all([
    import("../../../exchange/live/feed.ts"),
    import("../../../http/metrics/request-log.ts"),
  ]);
  return createFeed({ store, onFailure: (error) => logFailure(log, error) });
}

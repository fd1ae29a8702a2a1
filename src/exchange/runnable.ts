import { PLAN_AGENT } from "../core/plan-runs.ts";
import { quoted } from "../core/text/shell-words.ts";
import type { ExchangeRecord } from "../core/sessions.ts";
import { readSessionNodes, type SessionNodes } from "../store/records/exchanges/nodes.ts";
import type { Store } from "../store/store.ts";
import { isOfNode } from "./other-agent.ts";
import { isServed } from "./served-folders.ts";

/** Whether a node that is alive runs an exchange. */
export interface Runnable {
  readonly runnable: boolean;
  /** Command that starts a node that does, if none does. */
  readonly command: string | null;
}

/**
 * Finds out whether a node runs an exchange, or has begun to. With `besides`, the command starts a
 * node beside a service that listens on the default port.
 */
export async function whetherRuns(
  store: Store,
  { session_id, state }: Pick<ExchangeRecord, "session_id" | "state">,
  { besides }: { readonly besides: boolean },
): Promise<Runnable> {
  const session = state === "queued" ? await store.read(readSessionNodes, { session_id }) : null;
  return runnableOn(session, { besides });
}

/** As `whetherRuns`, of what was read before; null for an exchange that need not be run. */
export async function runnableOn(
  session: SessionNodes | null,
  { besides }: { readonly besides: boolean },
): Promise<Runnable> {
  if (session === null || (await isServedBy(session))) {
    return { runnable: true, command: null };
  }
  const { repo_path, agent, nodes } = session;
  const words = [
    "reprise serve",
    ...(besides || nodes.length > 0 ? ["--port 0"] : []),
    ...(agent === null || agent === PLAN_AGENT ? [] : ["--agent MODULE"]),
    ...(repo_path === null ? [] : [`--repos ${quoted(repo_path)}`]),
  ];
  return { runnable: false, command: words.join(" ") };
}

async function isServedBy({ nodes, ...session }: SessionNodes): Promise<boolean> {
  const { repo_path, has_begun } = session;
  for (const { agent, folders } of nodes) {
    const isIts = isOfNode(session, { agent, hasBegun: has_begun });
    if (isIts && (repo_path === null || (await isServed(folders, repo_path)))) {
      return true;
    }
  }
  return false;
}

import type { BaseMessage } from "@langchain/core/messages";

import { isServerTool } from "../core/tools.ts";
import { isGivenBack } from "../exchange/exchanger.ts";
import { Servers } from "../mcp/servers.ts";
import { listDelegatingCalls } from "../store/records/sessions/open-child.ts";
import { type AgentOfExchange, isDenied } from "./agent.ts";
import type { ExchangeContext } from "./exchange-context.ts";
import { keptIn } from "./messages/begun-calls.ts";
import { callsOf } from "./messages/message-calls.ts";
import { messagesOf } from "./messages/thread-state.ts";
import { PREFIX_CHANNEL, storedPrefix } from "./prefix/prefix.ts";
import { ServerTools } from "./tools/server-tools.ts";

/** The MCP servers of an exchange, as they wait from the one before if nothing of them has changed; null for none. */
export async function serversOf({
  options,
  prepared,
  held,
}: ExchangeContext): Promise<Servers | null> {
  const { root, conceal, learn, mcp } = prepared;
  const { session } = held;
  const isUsed = mcp.servers.length + mcp.unusable.length + mcp.problems.length > 0;
  const { asks = true } = options.permission ?? {};
  const input = {
    ...mcp,
    session_id: session.id,
    cwd: root,
    conceal,
    onSecrets: learn,
    asks,
  };
  const waiting = options.heldServers.take(session.id);
  if (waiting?.isAs(input) === true) {
    return waiting.resume(input);
  }
  await waiting?.end();
  return options.mcp === undefined || !isUsed ? null : new Servers({ ...options.mcp, ...input });
}

/** The tools of MCP servers; also without one for a thread that still has some; null for none. */
export function serverToolsOf(
  context: ExchangeContext,
  servers: Servers | null,
  building: AgentOfExchange,
): ServerTools | null {
  const { options, held, prepared, request, live, report, tuple } = context;
  const stored = storedPrefix(tuple?.checkpoint.channel_values[PREFIX_CHANNEL]);
  const known = stored?.tools.filter((tool) => isServerTool(tool.function.name)) ?? [];
  if (servers === null && known.length === 0) {
    return null;
  }
  let kept: ReturnType<typeof keptCalls> | null = null;
  return new ServerTools({
    servers,
    permit: building.permit,
    declared: options.tools,
    isDenied: (name) => isDenied(building, name),
    known,
    kept: () => (kept ??= keptCalls(context)),
    asks: building.asks,
    isGivenBack: () => isGivenBack(request.claim !== undefined, live),
    onProblem: (sentence) => report({ type: "notice", sentence: prepared.conceal(sentence) }),
    onOutput: (call_id, text) =>
      live.onOutput?.({ session_id: held.session.id, call_id, text: prepared.conceal(text) }),
  });
}

/** Checkpoints that are read for what open calls have kept: each one that a result was stored in beside them. */
const MAX_BEFORE = 10;

/** Returns the texts that the open calls of the thread have kept. */
export async function keptCalls({ state, tuple, saver }: ExchangeContext) {
  const kept = new Map<string, { readonly n: number; readonly text: string }>();
  const open = new Set(state.openCalls.map(({ id }) => id));
  let at = open.size === 0 ? undefined : tuple;
  for (let count = 0; at !== undefined && count < MAX_BEFORE; count += 1) {
    for (const [id, found] of keptIn(at)) {
      if (open.has(id) && !kept.has(id)) {
        kept.set(id, found);
      }
    }
    const isBefore = callsIn(messagesOf(at)).some((id) => open.has(id));
    at =
      isBefore && at.parentConfig !== undefined ? await saver.getTuple(at.parentConfig) : undefined;
  }
  return kept;
}

/**
 * Returns the ids of the calls without a result that may have taken effect before the exchange continued: those that had
 * begun, and those whose sub-agent had.
 */
export async function begunBefore(context: ExchangeContext): Promise<ReadonlySet<string>> {
  const { state, options, held } = context;
  const open = state.openCalls.filter(({ result }) => result === null);
  if (open.length === 0) {
    return new Set();
  }
  const [kept, delegating] = await Promise.all([
    keptCalls(context),
    options.store.read(listDelegatingCalls, { session_id: held.session.id }),
  ]);
  const begun = open.filter(
    ({ id, name }) =>
      kept.has(id) ||
      delegating.includes(id) ||
      !(options.tools.get(name).repeatable || state.notBegun.has(id)),
  );
  return new Set(begun.map(({ id }) => id));
}

function callsIn(messages: readonly BaseMessage[]): readonly string[] {
  const last = messages.findLast((message) => callsOf(message).length > 0);
  return last === undefined ? [] : callsOf(last).map(({ id = "" }) => id);
}

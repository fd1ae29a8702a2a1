import type { Message, Session } from "../../core/sessions.ts";
import { threadId } from "../../core/threads.ts";
import type { ExchangeResult } from "../../exchange/events.ts";
import type { Live } from "../../exchange/exchanger.ts";
import { nothingToContinue } from "../../exchange/nothing-to-continue.ts";
import { type Report, reportStored } from "../../exchange/report-events.ts";
import type { Store } from "../../store/store.ts";
import { driveGraph } from "./drive-graph.ts";
import type { DrivenAgent, ExchangeEnd, NextInput, ThreadConfig } from "./driven-agent.ts";
import { mayRepeat } from "../permit/repeating.ts";
import { type ThreadState, threadStateOf } from "../messages/thread-state.ts";
import type { HeldThread, Worked } from "./thread-holder.ts";

/** Exchange of an agent, whichever it is, under its session's lease. */
export interface DrivenExchange {
  readonly store: Store;
  readonly thread: HeldThread;
  readonly live: Live;
  readonly report: Report;
  /** False if the exchange is continued, or takes up the messages that were appended. */
  readonly isNew: boolean;
  /** True if calls that were left open have to get their results before the new message. */
  readonly closesFirst: boolean;
  /** Stores what no row has of the agent's input, before the exchange begins. */
  readonly keepInput?: () => Promise<void>;
  /** Model and persona of the agent, as events and results name them. */
  readonly names: {
    readonly model: string | null;
    readonly persona_name: string | null;
    readonly agent?: string;
  };
  /** The model that answered last, if it can be another than that of `names`. */
  readonly answeredBy?: () => string;
  /** Makes the agent. Called once the lease is held and the first event is reported. */
  readonly openAgent: () => DrivenAgent;
}

export function configOf({ id, thread_suffix }: Session): ThreadConfig {
  return { configurable: { thread_id: threadId(id, thread_suffix) } };
}

/**
 * Drives an exchange between taking the lease and giving it back.
 *
 * Error codes: `nothing_to_continue`, `lease_lost`, `session_ended`, `database_*`, and those of the agent.
 */
export async function driveExchange(exchange: DrivenExchange): Promise<Worked<ExchangeResult>> {
  const { thread, report, names, isNew, closesFirst, keepInput, live } = exchange;
  const { session: before } = thread.held;
  const config = configOf(before);
  const { thread_id } = config.configurable;
  const state = threadStateOf(thread.tuple);
  if (!closesFirst) {
    // before the first event, which names the exchange that is continued
    await keepInput?.();
    await thread.begin();
  }
  const skips = isNew && thread.held.wasInterrupted ? { skips: true as const } : {};
  report({ type: "started", thread_id, ...names, ...skips });
  const agent = exchange.openAgent();
  if (closesFirst) {
    await agent.closeOpen();
    await keepInput?.();
  }
  const { pending } = await thread.begin();
  reportStored(report, pending);
  await agent.begun?.();
  const next = await nextInput(exchange, agent, { pending, state });
  const end: ExchangeEnd =
    "input" in next
      ? await driveGraph({ agent, thread, config, signal: live.signal }, next.input)
      : next;
  // an answer in the place of a dropped one has its row
  const replaced = !isNew && state.isDropped ? 1 : 0;
  return {
    thread_id,
    finished: end.state === "done" || (end.state === "stopped" && end.answer !== ""),
    end: end.state,
    after_seq: before.last_seq - replaced,
    result: ({ session, messages }) => ({
      ...end,
      session,
      messages,
      thread_id,
      model: exchange.answeredBy?.() ?? names.model,
    }),
  };
}

interface Begun {
  readonly pending: readonly Message[];
  readonly state: ThreadState;
}

/**
 * Returns what the agent gets next, or how the exchange ends without running it. A new message abandons what was
 * interrupted. To continue is to run on from the checkpoint: calls that may have taken effect get the result
 * "outcome unknown" unless a person allows them to run again. See `mayRepeat`.
 */
async function nextInput(
  { store, thread, live, isNew }: DrivenExchange,
  agent: DrivenAgent,
  { pending, state }: Begun,
): Promise<NextInput> {
  const { held, tuple } = thread;
  if (isNew) {
    return { input: await agent.inputOf(pending) };
  }
  const undone = await agent.undone(pending);
  if (undone !== null && "suspects" in undone) {
    const asking = { ...agent.repeats, store, held, repeats: live.repeats ?? "never" };
    const isAllowed = await mayRepeat(asking, undone.suspects);
    return isAllowed === "open"
      ? { state: "waiting" }
      : { input: await undone.runOn({ closes: isAllowed === "no" }) };
  }
  if (undone !== null) {
    return undone;
  }
  if (pending.length > 0 || state.isDropped || state.isUnfinished) {
    // a dropped answer begins again with the messages that the thread has, and an unfinished one is continued
    return { input: await agent.inputOf(pending) };
  }
  if (held.wasInterrupted && tuple !== undefined) {
    // killed between its last checkpoint and the release of its lease: nothing is missing
    return { state: "done", answer: state.answer };
  }
  throw await nothingToContinue(store, held.fence.session_id);
}

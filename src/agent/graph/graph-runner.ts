import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";

import { RepriseError } from "../../core/errors.ts";
import { MAX_NAME_LENGTH } from "../../core/limits.ts";
import { PLAN_AGENT } from "../../core/plan-runs.ts";
import type { Session } from "../../core/sessions.ts";
import type { ExchangeResult } from "../../exchange/events.ts";
import { type ExchangeRequest, isFromTerminal, type Live } from "../../exchange/exchanger.ts";
import type { Report } from "../../exchange/report-events.ts";
import { beginThread } from "../../exchange/start-thread.ts";
import { runTakesNoMessage } from "../../store/records/plans/takes-no-message.ts";
import { refuseEnded } from "../../store/records/sessions/change.ts";
import { readLeaseState } from "../../store/records/leases/lease.ts";
import { readSession } from "../../store/records/sessions/read.ts";
import { configOf, driveExchange } from "../driver/drive-exchange.ts";
import { messagesOf } from "../messages/thread-state.ts";
import { createExchangeDriver, type Hold } from "../driver/exchange-driver.ts";
import type { ThreadHolderOptions } from "../driver/thread-holder.ts";
import { attachSaver } from "./attach-saver.ts";
import { graphAgent } from "./graph-exchange.ts";
import { readInput, refuseEmpty, userRows } from "../driver/graph-input.ts";
import { createGraphProgress } from "./graph-progress.ts";
import { keepInput, mustKeep } from "./kept-input.ts";
import { LateSaver } from "./late-saver.ts";

/** An agent that is not ours. */
export interface GraphAgent {
  /** A function of the checkpointer that returns a compiled graph, or one compiled without any. */
  readonly graph: unknown;
  /** Kept in the session; the graph's own name if it is not given, else that of the session. */
  readonly name?: string | undefined;
  /** Names of the tools that may be run twice. All others count as unsafe to repeat. */
  readonly repeatable?: readonly string[] | undefined;
}

export interface GraphRequest extends Omit<ExchangeRequest, "text" | "keep_partial"> {
  readonly agent: GraphAgent;
  /** See `readInput`. */
  readonly input: unknown;
  /** True to begin a fresh thread first, which may be another agent's. */
  readonly fresh?: boolean | undefined;
}

export type RunGraph = (request: GraphRequest, live: Live) => Promise<ExchangeResult>;

/** The agent's name in a session that has none, if nobody named it. */
const UNNAMED = "agent";

/**
 * Runs exchanges of graphs that are not ours, with the same lease, rows, events and rules as those of
 * the built-in agent. Whatever a graph reads belongs to it alone, so it may be changed in place.
 *
 * Error codes: as `Exchanger.exchange`, `graph_unsuitable`, `agent_differs`, `agent_failed`.
 */
export function createGraphRunner(options: Omit<ThreadHolderOptions, "frozen">): RunGraph {
  const driver = createExchangeDriver({ ...options, frozen: false });

  const run = async (
    request: GraphRequest,
    report: Report,
    hold: Hold,
  ): Promise<ExchangeResult> => {
    const input = readInput(request.input);
    const late = new LateSaver();
    const attached = await attachSaver(request.agent.graph, late);
    refuseEmpty(request.input, input, attached.graph.channels);
    const named = request.agent.name ?? attached.name;
    const nameIn = ({ agent }: Session) => {
      if (agent === PLAN_AGENT) {
        throw runTakesNoMessage();
      }
      return nameOf(named ?? agent ?? UNNAMED);
    };
    if (request.fresh === true) {
      const { session_id: id, principal } = request;
      const thread = {
        id,
        archive: false,
        agent: nameIn(await options.store.read(readSession, { id })),
        ...(principal === undefined ? {} : { principal }),
      };
      await beginThread(options.store, thread);
    }
    const given = request.fresh === true ? undefined : request.lease_state;
    const leaseState = given ?? (await options.store.read(readLeaseState, request));
    refuseEnded(leaseState.session);
    const name = nameIn(leaseState.session);
    // set under the lease, before the first checkpoint
    let progress = createGraphProgress(report, []);
    return hold({
      leaseState,
      begin: {
        content: null,
        messages: userRows(input),
        model: null,
        persona_name: null,
        agent: name,
        continues: input.kind === "continue" || (input.kind === "command" && input.resumes),
      },
      isOfService: request.claim !== undefined,
      isAttended: isFromTerminal(request),
      mayBegin: (tuple) => !mustKeep(input, tuple),
      onStored: (stored, messages) => progress.onStored(stored, messages),
      work: (thread, live) => {
        const { session, wasInterrupted } = thread.held;
        const config = configOf(session);
        const { saver, tuple } = thread;
        const isNew = input.kind === "new";
        const closesFirst = isNew && wasInterrupted;
        progress = createGraphProgress(report, messagesOf(tuple));
        const { store } = options;
        const { repeatable = [] } = request.agent;
        const held = {
          store,
          thread,
          config,
          attached,
          late,
          input,
          progress,
          repeatable,
          leaseState,
        };
        const { model, persona_name } = session;
        return late.using(saver, () =>
          driveExchange({
            store,
            thread,
            live,
            report,
            isNew,
            closesFirst,
            keepInput: async () => {
              if (closesFirst || mustKeep(input, tuple)) {
                await keepInput({ input, saver, config, graph: attached.graph });
              }
            },
            names: { model, persona_name, agent: name },
            openAgent: () => graphAgent(held),
          }),
        );
      },
    });
  };

  return (request, live) =>
    outsideOtherGraphs(() =>
      driver.run(request, live, (report, hold) => run(request, report, hold)),
    );
}

/**
 * LangGraph gives whatever a node or a tool calls the config of the graph around it. A graph that is
 * run in a session would then store its checkpoints in the outer graph's thread.
 */
function outsideOtherGraphs<Result>(work: () => Promise<Result>): Promise<Result> {
  const isWithin = AsyncLocalStorageProviderSingleton.getRunnableConfig() !== undefined;
  return isWithin
    ? AsyncLocalStorageProviderSingleton.runWithConfig(undefined, work, true)
    : work();
}

/** Error codes: `graph_unsuitable`. */
export function nameOf(name: string): string {
  if (name === PLAN_AGENT) {
    throw new RepriseError(
      "graph_unsuitable",
      `The agent's name may not be ${PLAN_AGENT}: sessions of plans that are run have it. Give another one.`,
    );
  }
  if (name.length > MAX_NAME_LENGTH || !/^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(name)) {
    throw new RepriseError(
      "graph_unsuitable",
      `The agent's name must have 1 to ${MAX_NAME_LENGTH} characters and no control characters. Give another one.`,
    );
  }
  return name;
}

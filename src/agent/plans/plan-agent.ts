import { HumanMessage } from "@langchain/core/messages";

import { ToolSet } from "../../core/tools.ts";
import type { Report } from "../../exchange/report-events.ts";
import { agentGraph, type Worker } from "../agent-graph.ts";
import { configOf } from "../driver/drive-exchange.ts";
import type { DrivenAgent } from "../driver/driven-agent.ts";
import type { HeldThread } from "../driver/thread-holder.ts";
import { createAnswerProgress } from "../messages/answer-progress.ts";
import { AnswerHandler } from "../messages/token-stream.ts";

export interface PlanAgent {
  readonly worker: Worker;
  readonly thread: HeldThread;
  readonly report: Report;
}

/** A run, as it is driven. It has no calls: what it began is in the rows of its phases. */
export function planAgent({ worker, thread, report }: PlanAgent): DrivenAgent {
  const progress = createAnswerProgress(report, "");
  const graph = agentGraph(worker, {
    saver: thread.saver,
    declared: new ToolSet([]),
    onMessage: progress.onMessage,
    permit: () => Promise.reject(new Error("a run has no tools")),
  });
  return {
    runnable: graph,
    graph,
    storesQuestions: true,
    repeats: { default: undefined, conceal: (text) => text },
    closeOpen: () => Promise.resolve(),
    inputOf: (pending) => ({
      messages: pending.map(
        ({ message_id, content }) => new HumanMessage({ id: message_id, content }),
      ),
    }),
    undone: async () => {
      const { tasks } = await graph.getState(configOf(thread.held.session));
      return tasks.length === 0
        ? null
        : {
            suspects: { calls: [], begun: "" },
            // the phases are begun again as their rows say
            runOn: () => Promise.resolve(null),
          };
    },
    answer: () => progress.text(),
    hearing: (answered) => ({
      handler: new AnswerHandler(progress.arriving, answered),
      everywhere: [],
    }),
    recover: async (error) => {
      throw error;
    },
    keepStopped: () => Promise.resolve(""),
  };
}

import { AsyncLocalStorage } from "node:async_hooks";

import type { ToolMessage } from "@langchain/core/messages";
import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { interrupt } from "@langchain/langgraph";
import { z } from "zod";

import { isRepriseError } from "../core/errors.ts";
import { MAX_SUBAGENT_DEPTH } from "../core/limits.ts";
import type { Live } from "../exchange/exchanger.ts";
import type { ExchangeContext } from "./exchange-context.ts";
import { type ChildEnd, runChildSession } from "../exchange/child-session.ts";
import type { ExchangeTree } from "../exchange/exchange-tree.ts";
import { DELEGATE } from "../rules/tools/built-in.ts";
import { DEFAULT_PERSONA } from "../rules/personas/persona.ts";
import { type CallConfig, failedResult } from "./tools/tool-result.ts";
import { endsExchange } from "./tools-node.ts";

const SCHEMA = z.object({
  persona: z.string().default(DEFAULT_PERSONA),
  task: z.string().min(1).describe("the whole task, with all that is needed for it"),
});

/**
 * Gives an exchange its `delegate` tool: a sub-agent is a separate session, one level below its
 * parent, and its last answer is the call's result. A call that is run again after the program was
 * stopped finds its sub-agent and resumes it.
 *
 * Each sub-agent that begins is added to `begun`: LangGraph does not wait for a call that it has
 * aborted, so who ends the exchange does.
 *
 * Not offered without a folder, to personas that may not, and at the greatest depth, where the
 * store would refuse it too.
 */
export function delegateTool(
  context: ExchangeContext,
  begun: Promise<unknown>[],
): StructuredToolInterface | null {
  const { options, prepared, held, report, tree } = context;
  const { session: parent, fence } = held;
  const { store, personas } = options;
  if (
    prepared.persona.tools?.includes(DELEGATE.name) === false ||
    parent.depth >= MAX_SUBAGENT_DEPTH ||
    parent.repo_path === null
  ) {
    return null;
  }
  // inside the parent's graph, LangChain would send the child's text to the parent's listeners
  const outsideTheGraph = AsyncLocalStorage.snapshot();
  return tool(
    async ({ persona, task }, config) => {
      const callId = config.toolCall?.id;
      if (callId === undefined) {
        return failedResult(
          "this call has no id, so its sub-agent could not be found again.",
          config,
          "not_run",
        );
      }
      const live = withSignal(context.live, config.signal);
      const answer = tree.runChild({
        parent: options.within?.reservation ?? null,
        signal: live.signal,
        onWait: (running) => report({ type: "child_waiting", call_id: callId, running }),
        run: (reservation) => {
          const exchanger = context.openExchanger({ tree, reservation });
          const { modelName: model, fallback } = prepared;
          const call = { callId, persona, task, model, fallback };
          const parent_n = context.record()?.n ?? null;
          const from = { fence, parent, parent_n };
          const child = { ...call, ...from, store, personas, live, report, exchanger };
          return answerOf(config, () => outsideTheGraph(runChildSession, child));
        },
      });
      if (answer === null) {
        return failedResult(TOO_MANY, config, "not_run");
      }
      begun.push(answer);
      return unlessEnded(tree, answer);
    },
    {
      name: DELEGATE.name,
      description:
        "Give a task to a sub-agent with a separate context and wait for its answer. It knows nothing of this conversation: say everything it needs. Personas: assistant, planner, reviewer, or one of the project's.",
      schema: SCHEMA,
    },
  );
}

const TOO_MANY =
  "this exchange has begun as many sub-agents as it may, so this one was not begun. Do the task without one, or report to the user what is left.";

/**
 * What a sub-agent answers. One that the end of the whole exchange has stopped answers nothing, so
 * that its call runs again when the exchange is continued.
 */
async function unlessEnded(
  tree: ExchangeTree,
  answer: Promise<string | ToolMessage>,
): Promise<string | ToolMessage> {
  const given = await answer.catch((error: unknown) => {
    throw tree.ending() ?? error;
  });
  const ending = typeof given === "string" ? null : tree.ending();
  if (ending !== null) {
    throw ending;
  }
  return given;
}

/**
 * The failure of a sub-agent becomes a sentence for its parent; the parent's own errors are thrown.
 */
async function answerOf(
  config: CallConfig,
  run: () => Promise<ChildEnd>,
): Promise<string | ToolMessage> {
  try {
    const end = await run();
    if (end.state === "waiting") {
      // the parent waits too; when it is continued, the call runs again and finds its sub-agent
      interrupt("a sub-agent waits");
    }
    return end.state === "done" && end.answer !== ""
      ? end.answer
      : failedResult("the sub-agent was stopped before it answered.", config);
  } catch (error) {
    if (isRepriseError(error) && !endsExchange(error)) {
      return failedResult(`the sub-agent failed: ${error.without_reason}`, config);
    }
    throw error;
  }
}

function withSignal(live: Live, signal: AbortSignal | undefined): Live {
  return signal === undefined ? live : { ...live, signal: AbortSignal.any([live.signal, signal]) };
}

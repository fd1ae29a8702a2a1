import { failureText } from "../core/text/result-text.ts";
import { type ToolCall, ToolMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, ToolInputParsingException } from "@langchain/core/tools";
import { isGraphBubbleUp, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import { type CallStatus, factsOfCall } from "../core/calls.ts";
import { type ErrorCode, isRepriseError } from "../core/errors.ts";
import type { ToolSet } from "../core/tools.ts";
import type { AnswerProgress } from "./messages/answer-progress.ts";
import type { Permit } from "./permit/permit.ts";
import type { Change } from "./permit/change.ts";
import { isPassing } from "../exchange/exchange-failure.ts";
import { statusOfFailure } from "../workspace/files/refusal.ts";
import type { Conceal } from "../core/secrets.ts";
import { keptStatusOf } from "../store/records/messages/call-facts.ts";
import type { CallHooks } from "./call-hooks.ts";
import { begunMark } from "./messages/begun-calls.ts";
import { concealResult } from "./permit/conceal-result.ts";
import { keepStatus } from "./messages/keep-facts.ts";
import {
  type AskingTools,
  isAskingFirst,
  permitsItself,
  withAsking,
} from "./permit/tool-asking.ts";

type OnMessage = AnswerProgress["onMessage"];

/** What calls of tools need besides the tools. */
export interface ExchangeTools {
  /** Called with each result, before it is stored. */
  readonly onMessage: OnMessage;
  readonly saver: BaseCheckpointSaver;
  /** With it, tools can ask a person. */
  readonly asking?: AskingTools | undefined;
  /** Called before a tool takes effect; the agent's own tools for files and commands call it themselves. */
  readonly permit: Permit;
  /** Facts about the tools. */
  readonly declared: ToolSet;
  /** Applied to each result and each question; without it nothing is replaced. */
  readonly conceal?: Conceal | undefined;
  /** Run before and after calls, and before the last answer. */
  readonly hooks?: CallHooks | undefined;
  /** Ids of calls that may have begun before the exchange continued; without it, of none. */
  readonly begunBefore?: (() => Promise<ReadonlySet<string>>) | undefined;
}

/** They end the exchange in which they happen, and are not a tool's result. */
const ENDINGS: readonly ErrorCode[] = [
  "lease_lost",
  "shutting_down",
  "call_limit_reached",
  "budget_reached",
  "price_limit_reached",
];

/** True for an error after which nothing more is done in an exchange, or in one above it. */
export function endsExchange(error: unknown): boolean {
  return isRepriseError(error, ...ENDINGS) || (isRepriseError(error) && isPassing(error));
}

/**
 * Runs tools as LangGraph's own node does, but lets pass what ends the exchange: the call then has no
 * result and runs again when the exchange is continued. Calls beside it that finish keep theirs.
 *
 * A call that may take effect is stored as begun before it runs: see `begunMark`.
 */
export class ExchangeToolNode extends ToolNode {
  readonly #onMessage: OnMessage;
  readonly #saver: BaseCheckpointSaver;
  readonly #asking: AskingTools | undefined;
  readonly #permit: Permit;
  readonly #declared: ToolSet;
  readonly #conceal: Conceal;
  readonly #hooks: CallHooks | undefined;
  readonly #begunBefore: ExchangeTools["begunBefore"];
  readonly #find: FindTool | null;

  constructor(
    tools: readonly StructuredToolInterface[],
    node: ExchangeTools,
    find: FindTool | null = null,
  ) {
    super([...tools], { handleToolErrors: false });
    this.#find = find;
    this.#onMessage = node.onMessage;
    this.#saver = node.saver;
    this.#asking = node.asking;
    this.#permit = node.permit;
    this.#declared = node.declared;
    this.#conceal = node.conceal ?? ((text) => text);
    this.#hooks = node.hooks;
    this.#begunBefore = node.begunBefore;
  }

  protected override async runTool(
    call: ToolCall,
    config: LangGraphRunnableConfig,
    state: unknown,
  ) {
    const mark = begunMark(this.#saver, call, config);
    const declared = this.#declared.get(call.name);
    const begins = !declared.repeatable;
    const called = this.#toolOf(call.name);
    const asking =
      this.#asking === undefined
        ? config
        : withAsking(
            config,
            { call_id: call.id ?? "", mark, begins, conceal: this.#conceal },
            this.#asking,
          );
    const start = performance.now();
    const run = async () => {
      if (!permitsItself(called)) {
        await this.#permit(asking, { tool: declared, file: null, command: null }, async () =>
          argumentsOf(call),
        );
      }
      if (begins && !isAskingFirst(called)) {
        await mark.begin();
      }
      return super.runTool(call, asking, state);
    };
    const work = () => resultOf(call, run);
    const hooked = this.#hooks?.around(call, declared, config.signal, work) ?? work();
    const given = await hooked.catch(async (error: unknown) => {
      if (isGraphBubbleUp(error)) {
        await mark.asks();
      }
      throw error;
    });
    if (!ToolMessage.isInstance(given)) {
      return given;
    }
    const status = statusOf(given);
    const isRefused =
      !mark.hasRun() &&
      (status === "denied" || (begins && status !== "ok" && status !== "unknown"));
    const hasBegun = isRefused && (await this.#begunBefore?.())?.has(call.id ?? "") === true;
    const ended = hasBegun ? unknownResult(given) : keepStatus(given, status);
    // the one place before checkpoints, rows, events and screens
    const result = concealResult(ended, this.#conceal);
    const facts = factsOfCall(call, this.#declared);
    this.#onMessage(result, { durationMs: performance.now() - start, facts });
    return result;
  }

  /** LangGraph's node finds a tool in its list alone. */
  #toolOf(wanted: string) {
    const known = this.tools.find(({ name }) => name === wanted);
    const found = known === undefined ? (this.#find?.(wanted) ?? null) : null;
    if (found !== null) {
      this.tools.push(found);
    }
    return known ?? found ?? undefined;
  }
}

/** Finds a tool by its name; null for none. */
export type FindTool = (name: string) => StructuredToolInterface | null;

async function resultOf<Result>(
  call: ToolCall,
  run: () => Promise<Result>,
): Promise<Result | ToolMessage> {
  try {
    return await run();
  } catch (error) {
    if (isGraphBubbleUp(error) || endsExchange(error)) {
      throw error;
    }
    const result = new ToolMessage({
      status: "error",
      content: failureText(
        `${error instanceof Error ? error.message : "the tool failed"}\n Please fix your mistakes.`,
      ),
      name: call.name,
      tool_call_id: call.id ?? "",
    });
    return keepStatus(result, statusAfter(error));
  }
}

function statusOf(result: ToolMessage): CallStatus {
  return keptStatusOf(result) ?? (result.status === "error" ? "failed" : "ok");
}

/** The result of a call that had begun before, and that is denied or cannot be made now. */
function unknownResult({ text, name, tool_call_id }: ToolMessage): ToolMessage {
  const content = `${text}\n\n${BEGUN_BEFORE}`;
  const named = name === undefined ? {} : { name };
  return keepStatus(
    new ToolMessage({ content, tool_call_id, ...named, status: "error" }),
    "unknown",
  );
}

const BEGUN_BEFORE =
  "This call had begun before the exchange was interrupted. It may have taken effect or not; check before you repeat it.";

/** A tool whose arguments do not fit its schema never begins. */
function statusAfter(error: unknown): CallStatus {
  return error instanceof ToolInputParsingException ? "not_run" : statusOfFailure(error);
}

/** What is shown of a call of a tool of which nothing else is known. */
function argumentsOf({ args }: ToolCall): Change {
  const shown = JSON.stringify(args, null, 2);
  return { shown, basis: shown };
}

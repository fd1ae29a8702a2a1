import { OUTCOME_UNKNOWN } from "../../core/text/outcome-unknown.ts";
import { estimateTokens, storableText } from "../../core/text/text.ts";
import { storableValue } from "../../core/text/storable-value.ts";
import { CALL_STATUS, MAKER, STAND_IN } from "../../store/records/messages/call-facts.ts";
import { summaryMarks } from "../../store/records/messages/summary.ts";
import type { Fields } from "./fields.ts";
import type { Program } from "./history.ts";
import type { PairedAnswer, PairedEntry, PairedResult } from "./paired.ts";

/** Facts that a message needs besides its entry. */
export interface OfMessage {
  readonly id: string;
  readonly program: Program;
  /** Id of the first message that a summary keeps. */
  readonly kept_from: string;
}

/**
 * Writes the body of a message, as `langgraph/messages/message-codec.ts` does. Nothing but texts, names and arguments
 * of the history gets in, made storable here.
 */
export function bodyOf(entry: PairedEntry, facts: OfMessage): string {
  const { id } = facts;
  switch (entry.kind) {
    case "user":
      return JSON.stringify(["HumanMessage", { content: storableText(entry.text), id }]);
    case "summary":
      return JSON.stringify([
        "AIMessage",
        {
          additional_kwargs: summaryMarks(facts.kept_from),
          content: storableText(entry.text),
          id,
          usage_metadata: usageOf(entry.text),
        },
      ]);
    case "answer":
      return JSON.stringify(["AIMessage", answerFields(entry, facts)]);
    case "result":
      return JSON.stringify(["ToolMessage", resultFields(entry, id)]);
  }
}

function answerFields({ text, thinking, calls }: PairedAnswer, { id, program }: OfMessage): object {
  const words = storableText(text);
  const blocks = [
    ...thinking.map((thought) => ({ type: "thinking", thinking: storableText(thought) })),
    ...(words === "" ? [] : [{ type: "text", text: words }]),
  ];
  return {
    content: thinking.length === 0 ? words : blocks,
    id,
    // no provider is this maker, so none is sent the thinking
    response_metadata: { [MAKER]: `${program}/history` },
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ own_id, name, args }) => ({
            name: toolName(name),
            args: storedArgs(args),
            id: own_id,
            type: "tool_call",
          })),
        }),
    usage_metadata: usageOf(words + (calls.length === 0 ? "" : JSON.stringify(calls))),
  };
}

/** Counts the written tokens alone: those sent were paid for elsewhere, and without any count a thread would seem short. */
function usageOf(written: string): object {
  const output_tokens = estimateTokens(written);
  return { input_tokens: 0, output_tokens, total_tokens: output_tokens };
}

function resultFields({ call, result }: PairedResult, id: string): object {
  const known = { id, name: toolName(call.name), tool_call_id: call.own_id };
  if (result === null) {
    const response_metadata = { [STAND_IN]: true, [CALL_STATUS]: "unknown" };
    return { content: OUTCOME_UNKNOWN, ...known, response_metadata, status: "error" };
  }
  const { text, failed } = result;
  const status = failed === null ? {} : { status: failed ? "error" : "success" };
  return { content: storableText(text), ...known, ...status };
}

/** Returns a name that every provider takes. */
function toolName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, 64) || "unnamed";
}

/** Levels of lists and records in arguments. What reads them goes down into them, a call for each level. */
const MAX_LEVELS = 100;

function storedArgs(args: Fields): unknown {
  return isDeep(args) ? {} : escaped(storableValue(args));
}

function isDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_LEVELS) {
      return true;
    }
    level = level.flatMap((one) =>
      typeof one === "object" && one !== null ? Object.values(one) : [],
    );
  }
  return false;
}

/** A record with a member `lc` would be taken for one of LangChain's classes: this is how it writes such records. */
function escaped(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(escaped);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const isMarked = Object.hasOwn(value, "lc") || Object.hasOwn(value, "__lc_escaped__");
  return isMarked
    ? { __lc_escaped__: value }
    : Object.fromEntries(Object.entries(value).map(([name, one]) => [name, escaped(one)]));
}

import { failureText } from "../../core/text/result-text.ts";
import { ToolMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { isGraphBubbleUp } from "@langchain/langgraph";

import type { CallStatus } from "../../core/calls.ts";
import { isRepriseError, systemCode } from "../../core/errors.ts";
import { statusOfFailure } from "../../workspace/files/refusal.ts";
import { keepStatus } from "../messages/keep-facts.ts";

/** What a failed call of the system means, for a model. */
const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  EACCES: "the system does not allow this; choose another path or ask the user",
  EPERM: "the system does not allow this; choose another path or ask the user",
  EROFS: "the disk is read-only; report this to the user",
  ENOSPC: "the disk is full; report this to the user",
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is a file, not a folder",
  EISDIR: "this is a folder; name a file",
  ELOOP: "the path leads through a link that must not be followed; choose another",
  ENAMETOOLONG: "the name is too long; choose a shorter one",
};

/** The part of a tool's configuration that names the call that it answers. */
export interface CallConfig {
  readonly toolCall?: { readonly id?: string | undefined; readonly name: string } | undefined;
}

/**
 * Makes a tool that throws nothing but LangGraph's interrupts: a failure is answered as text that
 * begins with `Error:`, with the status of an error, and what every answer holds can be stored (no
 * NUL, no half character).
 */
export function reportFailure<Input>(
  act: (input: Input, config: CallConfig & RunnableConfig) => Promise<string | Outcome>,
): (input: Input, config: CallConfig & RunnableConfig) => Promise<string | ToolMessage> {
  return async (input, config) => {
    try {
      const given = await act(input, config);
      return typeof given === "string" ? storable(given) : outcomeOf(given, config);
    } catch (error) {
      if (isGraphBubbleUp(error)) {
        // a question to a person is not a failure
        throw error;
      }
      return failedResult(messageOf(error), config, statusOfFailure(error));
    }
  };
}

/** Result of a tool that ran to its end, which a person may still see as failed. */
export interface Outcome {
  readonly content: string;
  readonly status: CallStatus;
}

function outcomeOf({ content, status }: Outcome, { toolCall }: CallConfig): string | ToolMessage {
  const { id, name } = toolCall ?? {};
  const text = storable(content);
  return id === undefined || name === undefined
    ? text
    : keepStatus(
        new ToolMessage({ content: text, name, tool_call_id: id, status: "success" }),
        status,
      );
}

function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\u{FFFD}");
}

/** The result of a call that failed; only its text if the tool was not called by a model. */
export function failedResult(
  reason: string,
  { toolCall }: CallConfig,
  status: CallStatus = "failed",
): string | ToolMessage {
  const content = failureText(reason);
  const { id, name } = toolCall ?? {};
  return id === undefined || name === undefined
    ? content
    : keepStatus(new ToolMessage({ content, name, tool_call_id: id, status: "error" }), status);
}

/** Runs what it is given one after the other; a failure does not hold up the next. */
export function createQueue(): <Output>(act: () => Promise<Output>) => Promise<Output> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const done = last.then(act, act);
    last = done;
    return done;
  };
}

function messageOf(error: unknown): string {
  if (isRepriseError(error)) {
    return error.message;
  }
  const code = systemCode(error) ?? "unknown";
  return SYSTEM_ERRORS[code] ?? `the tool failed (${code}); try another way or ask the user`;
}

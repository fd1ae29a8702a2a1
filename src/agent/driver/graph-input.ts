import {
  type BaseMessage,
  type BaseMessageLike,
  coerceMessageLikeToMessage,
  HumanMessage,
} from "@langchain/core/messages";

import { RepriseError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Message } from "../../core/sessions.ts";
import { refuseUnstorable } from "../../exchange/storable-message.ts";
import type { IdentifiedMessage } from "../../store/records/messages/begin-exchange.ts";
import { mirrorOf } from "../../store/records/messages/mirror-row.ts";

/** What a graph is run with, read once. */
export type GraphInput =
  /** New messages, and other values of the graph's state. */
  | {
      readonly kind: "new";
      readonly messages: readonly BaseMessage[];
      readonly values: Readonly<Record<string, unknown>>;
      /** True if the message's row has everything. */
      readonly isText: boolean;
    }
  /** A LangGraph Command, which answers a question. */
  | { readonly kind: "command"; readonly command: object; readonly resumes: boolean }
  /** Continues what was interrupted, or takes up the messages that were appended. */
  | { readonly kind: "continue" };

/**
 * Reads what a caller runs a graph with: a text, one message or several, an update of the state, a
 * Command, or null to continue.
 *
 * Error codes: `invalid_request`, `body_too_large`.
 */
export function readInput(given: unknown): GraphInput {
  if (given === null) {
    return { kind: "continue" };
  }
  if (isCommand(given)) {
    return { kind: "command", command: given, resumes: Reflect.get(given, "resume") !== undefined };
  }
  if (typeof given === "object" && !Array.isArray(given) && !isMessage(given)) {
    const { messages = [], ...values } = given as { messages?: unknown };
    return newInput(messages, values);
  }
  return newInput(given, {});
}

/**
 * What LangGraph takes for one of its Commands, which it knows by this name. Its own class is the
 * graph's: a copy of LangGraph here would be a second one.
 */
class ResumeCommand {
  readonly lg_name = "Command";
  readonly goto: readonly string[] = [];
  readonly resume: unknown;

  constructor(resume: unknown) {
    this.resume = resume;
  }
}

/** A Command that answers. */
export function commandOf(resume: unknown): object {
  return new ResumeCommand(resume);
}

/**
 * An update that names no channel would run the graph without anything new: a wrong name, an empty
 * object or list, or an object of another kind, such as a Promise.
 *
 * Error codes: `invalid_request`.
 */
export function refuseEmpty(
  given: unknown,
  input: GraphInput,
  channels: Readonly<Record<string, unknown>>,
): void {
  const names = typeof given === "object" && given !== null ? Reflect.ownKeys(given) : [];
  const isUpdate = names.some((name) => typeof name === "string" && Object.hasOwn(channels, name));
  if (input.kind === "new" && input.messages.length === 0 && !isUpdate) {
    throw new RepriseError(
      "invalid_request",
      "The input has no message and no value of the graph's state. Give a text, messages, an update such as `{ messages: […] }`, a Command, or null to continue.",
    );
  }
}

/**
 * The rows that the user's messages get before the graph runs. Of messages with the same id the last
 * is taken, at the position of the first, as LangGraph's reducer does.
 */
export function userRows(input: GraphInput): readonly IdentifiedMessage[] {
  const messages = input.kind === "new" ? input.messages : [];
  const rows = messages.flatMap((_, index) => {
    const row = mirrorOf(messages, index);
    return row?.role === "user"
      ? [[row.message_id, { message_id: row.message_id, content: row.content }] as const]
      : [];
  });
  return [...new Map(rows).values()];
}

/** What the graph gets: messages that were appended meanwhile come before the new ones. */
export function stateUpdate(
  input: GraphInput,
  pending: readonly Message[],
): Readonly<Record<string, unknown>> {
  const { messages, values } = input.kind === "new" ? input : { messages: [], values: {} };
  const given = new Set(userRows(input).map(({ message_id }) => message_id));
  const appended = pending
    .filter(({ message_id }) => !given.has(message_id))
    .map(({ message_id, content }) => new HumanMessage({ id: message_id, content }));
  return { ...values, messages: [...appended, ...messages] };
}

function newInput(given: unknown, values: Readonly<Record<string, unknown>>): GraphInput {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const messages = list.map(messageOf);
  if (messages.some(({ type, content }) => type === "human" && content === "")) {
    throw new RepriseError("invalid_request", "The message is empty. Give it a text.");
  }
  for (const { text } of messages.filter(({ type }) => type === "human")) {
    refuseUnstorable(text);
  }
  const isText = typeof given === "string" && Object.keys(values).length === 0;
  return { kind: "new", messages, values, isText };
}

function messageOf(given: unknown): BaseMessage {
  let message: BaseMessage;
  try {
    message = coerceMessageLikeToMessage(given as BaseMessageLike);
  } catch (cause) {
    throw new RepriseError(
      "invalid_request",
      "The input is not a message. Give a text, messages as LangChain takes them, an update of the state, a Command or null.",
      { cause },
    );
  }
  const own: unknown = message.id;
  const isText = typeof own === "string" && own !== "";
  if (isText || (message.type !== "human" && (own === undefined || own === ""))) {
    return message;
  }
  // a copy: a message that is sent twice is two messages
  const id = newId();
  return Object.assign(Object.create(Object.getPrototypeOf(message) as object), message, {
    id,
    lc_kwargs: { ...message.lc_kwargs, id },
  }) as BaseMessage;
}

function isMessage(given: object): boolean {
  return (
    typeof Reflect.get(given, "_getType") === "function" ||
    typeof Reflect.get(given, "role") === "string" ||
    (typeof Reflect.get(given, "type") === "string" && "content" in given)
  );
}

/** LangGraph's own test, whatever copy of LangGraph made it. */
function isCommand(given: unknown): given is object {
  return typeof given === "object" && given !== null && Reflect.get(given, "lg_name") === "Command";
}

import { blocksOf, type Block, contentOf, messagesBody } from "./claude/request.ts";
import { type ChatMessage, chatBody } from "./openai/chat-request.ts";
import { type Item, responsesBody } from "./openai/responses-request.ts";
import { asText, type Body } from "./rules.ts";
import type { Received } from "./server.ts";

/** A message of a request, in the form of chat completions whichever API it came through. */
export interface SentMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

export interface SentRequest {
  /** The system prompt left out. */
  readonly messages: SentMessage[];
  readonly system: string;
  /** The names of the tools that it offers. */
  readonly tools: string[];
}

export function sentRequest({ path, body }: Pick<Received, "path" | "body">): SentRequest {
  switch (path) {
    case "/v1/messages":
      return ofClaude(body);
    case "/v1/responses":
      return ofResponses(body);
    default:
      return ofChat(body);
  }
}

function ofChat(body: Body): SentRequest {
  const { messages, tools = [] } = chatBody(body);
  const isSystem = ({ role }: ChatMessage): boolean => role === "system" || role === "developer";
  return {
    messages: messages
      .filter((message) => !isSystem(message))
      .map((message) => ({ ...message, content: textOf(message.content) })),
    system: messages
      .filter(isSystem)
      .map(({ content }) => textOf(content))
      .join("\n"),
    tools: tools.map((tool) => tool.function.name),
  };
}

function ofClaude(body: Body): SentRequest {
  const request = messagesBody(body);
  return {
    messages: request.messages.flatMap(({ role, content }) =>
      role === "assistant" ? [ofAnswer(contentOf(content))] : ofUser(contentOf(content)),
    ),
    system: textOf(request.system),
    tools: blocksOf(request).flatMap(({ in: place, block }) =>
      place === "tools" ? [asText(block["name"])] : [],
    ),
  };
}

function ofAnswer(blocks: readonly Block[]): SentMessage {
  const calls = blocks.filter(({ type }) => type === "tool_use");
  const message = { role: "assistant", content: textOf(blocks) };
  return calls.length === 0
    ? message
    : {
        ...message,
        tool_calls: calls.map(({ id, name, input }) => ({
          id: asText(id),
          type: "function",
          function: { name, arguments: JSON.stringify(input) },
        })),
      };
}

function ofUser(blocks: readonly Block[]): SentMessage[] {
  const results = blocks
    .filter(({ type }) => type === "tool_result")
    .map(({ tool_use_id, content }) => ({
      role: "tool",
      content: textOf(content),
      tool_call_id: asText(tool_use_id),
    }));
  const text = textOf(blocks);
  return [
    ...results,
    ...(text === "" && results.length > 0 ? [] : [{ role: "user", content: text }]),
  ];
}

function ofResponses(body: Body): SentRequest {
  const { input, instructions, tools = [] } = responsesBody(body);
  const items: readonly Item[] =
    typeof input === "string" ? [{ role: "user", content: input }] : input;
  const messages = items.flatMap((item): SentMessage[] => {
    const { type = "message", call_id = "", name, arguments: args } = item;
    switch (type) {
      case "function_call": {
        const call = { id: call_id, type: "function", function: { name, arguments: args } };
        return [{ role: "assistant", content: "", tool_calls: [call] }];
      }
      case "function_call_output":
        return [{ role: "tool", content: textOf(item["output"]), tool_call_id: call_id }];
      case "message":
        return [{ role: asText(item["role"]), content: textOf(item["content"]) }];
      default:
        return [];
    }
  });
  const isSystem = ({ role }: SentMessage): boolean => role === "system" || role === "developer";
  return {
    messages: messages.filter((message) => !isSystem(message)),
    system: [instructions ?? "", ...messages.filter(isSystem).map(({ content }) => content)]
      .filter((text) => text !== "")
      .join("\n"),
    tools: tools.map(({ name = "" }) => name),
  };
}

function textOf(content: unknown): string {
  return Array.isArray(content)
    ? content.map((part: unknown) => asText((part as Block)["text"])).join("")
    : asText(content);
}

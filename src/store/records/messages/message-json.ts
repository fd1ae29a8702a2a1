/** Fields of a message from which its mirror row follows. A LangChain message has these members too. */
export interface MessageJson {
  /** `human`, `ai`, `tool`, `system`, … */
  readonly type: string;
  readonly id?: string | undefined;
  /** Id of the call, of a tool's result. */
  readonly tool_call_id?: string | undefined;
  readonly status?: string | undefined;
  readonly content: string | readonly unknown[];
  readonly additional_kwargs: object;
  readonly response_metadata?: object | undefined;
  readonly tool_calls?: readonly CallJson[] | undefined;
  readonly usage_metadata?:
    | { readonly input_tokens: unknown; readonly output_tokens: unknown }
    | undefined;
}

interface CallJson {
  readonly id?: string | null | undefined;
  readonly name: string;
  readonly args: unknown;
}

/**
 * Reads the body of a message, `[class, fields]` as `langgraph/messages/message-codec.ts` writes it. Null for
 * a text that is not a message, or one that the agent could not make a message of.
 */
export function readMessage(text: string): MessageJson | null {
  try {
    const body: unknown = JSON.parse(text);
    return Array.isArray(body) && body.length === 2
      ? messageOf(typeOf(body[0]), ESCAPED.test(text) ? unescaped(body[1]) : body[1])
      : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) {
      return null;
    }
    throw error;
  }
}

function messageOf(type: string | undefined, fields: unknown): MessageJson | null {
  if (type === undefined || !isRecord(fields)) {
    return null;
  }
  const { id, tool_call_id, status, response_metadata, usage_metadata } = fields;
  const content = fields["content"] ?? [];
  const additional_kwargs = fields["additional_kwargs"] ?? {};
  const tool_calls = fields["tool_calls"] ?? [];
  return (id === undefined || typeof id === "string") &&
    (typeof content === "string" || Array.isArray(content)) &&
    isRecord(additional_kwargs) &&
    Array.isArray(tool_calls) &&
    tool_calls.every(isCall)
    ? {
        type,
        id,
        ...(typeof tool_call_id === "string" ? { tool_call_id } : {}),
        ...(typeof status === "string" ? { status } : {}),
        ...(isRecord(response_metadata) ? { response_metadata } : {}),
        content,
        additional_kwargs,
        tool_calls,
        usage_metadata: usage_metadata as MessageJson["usage_metadata"],
      }
    : null;
}

function isCall(value: unknown): value is CallJson {
  return (
    isRecord(value) &&
    typeof value["name"] === "string" &&
    (typeof value["id"] === "string" || (value["id"] ?? null) === null)
  );
}

/** LangChain's classes of messages, and what `type` their messages have. */
const TYPES = new Map([
  ["HumanMessage", "human"],
  ["AIMessage", "ai"],
  ["ToolMessage", "tool"],
  ["SystemMessage", "system"],
  ["FunctionMessage", "function"],
  ["ChatMessage", "generic"],
  ["RemoveMessage", "remove"],
]);

/** A class is its name, or a path that ends in it: `["langchain_core", "messages", …, name]`. */
function typeOf(written: unknown): string | undefined {
  const path: readonly unknown[] = Array.isArray(written) ? written : [...PATH, written];
  const name = path.at(-1);
  return typeof name === "string" && PATH.every((part, index) => path[index] === part)
    ? TYPES.get(name.replace(/Chunk$/, ""))
    : undefined;
}

const PATH = ["langchain_core", "messages"];

/** LangChain's marks inside a field. */
const ESCAPED = /"lc":|"__lc_escaped__":/;

/**
 * The value as the agent gets it: `{"__lc_escaped__": value}` is a value that has a member `lc`
 * itself. Throws a RangeError for a record of a class that LangChain does not make again.
 */
function unescaped(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(unescaped);
  }
  if (!isRecord(value)) {
    return value;
  }
  const names = Object.keys(value);
  if (names.length === 1 && names[0] === "__lc_escaped__") {
    return value["__lc_escaped__"];
  }
  if (value["lc"] === 1 && (value["type"] === "secret" || value["type"] === "not_implemented")) {
    throw new RangeError("a record of this message cannot be read");
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unescaped(one)]));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

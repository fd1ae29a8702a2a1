import type { Changing, RuleCase } from "./cases.ts";

function plain(model: string): Changing {
  return { model, stream: false, messages: [{ role: "user", content: "hi" }] };
}

function withCall(model: string): Changing {
  const body = plain(model);
  const call = { function: { name: "read", arguments: { path: "a.txt" } } };
  body.messages.push(
    { role: "assistant", content: "", tool_calls: [call] },
    { role: "tool", tool_name: "read", content: "7" },
  );
  return body;
}

/** A case for each rule of Ollama's chat. */
export const OLLAMA_CASES: readonly RuleCase[] = [
  { rule: "model", valid: plain, change: (body) => delete body.model },
  {
    rule: "content_text",
    valid: plain,
    change: ({ messages }) => (messages[0].content = [{ type: "text", text: "hi" }]),
  },
  {
    rule: "arguments_object",
    valid: withCall,
    change: ({ messages }) => (messages[1].tool_calls[0].function.arguments = "{}"),
  },
  {
    rule: "tools_unknown",
    account: { noTools: true },
    valid: plain,
    change: (body) => (body.tools = [{ type: "function", function: { name: "read" } }]),
  },
  {
    rule: "thinking_unknown",
    account: { noThinking: true },
    valid: plain,
    change: (body) => (body.think = true),
  },
];

import { CHAT_SERVERS } from "../../helpers/providers/openai/chat-quirks.ts";
import type { Changing, RuleCase, Talk } from "./cases.ts";

const READ = {
  type: "function",
  function: {
    name: "read",
    description: "Reads a file.",
    parameters: { type: "object", properties: { path: { type: "string" } } },
  },
};

function plain(model: string): Changing {
  return {
    model,
    messages: [
      { role: "system", content: "You read files before you answer." },
      { role: "user", content: "Which number is in a.txt? Read it." },
    ],
  };
}

function withCall(model: string): Changing {
  const body = plain(model);
  const call = { id: "call_1", type: "function", function: { name: "read", arguments: "{}" } };
  body.tools = [{ ...READ }];
  body.messages.push(
    { role: "assistant", content: "", tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: "7" },
  );
  return body;
}

/** An answer with reasoning and a call as the server gave it, and its result. */
async function withReasoning(model: string, talk: Talk): Promise<Changing> {
  const body = plain(model);
  body.tools = [{ ...READ }];
  const { choices } = await talk(body);
  const [{ message }] = choices;
  body.messages.push(message);
  for (const { id } of message.tool_calls) {
    body.messages.push({ role: "tool", tool_call_id: id, content: "7" });
  }
  return body;
}

const OF_DEEPSEEK = { account: { quirks: CHAT_SERVERS.deepseek }, model: "deepseek-v4-flash" };
const OF_OPENROUTER = {
  account: { quirks: CHAT_SERVERS.openrouter },
  model: "google/gemini-3-pro",
};
const OF_GEMINI = { account: { quirks: CHAT_SERVERS.gemini }, model: "gemini-3-pro" };
const OF_QWEN = { account: { quirks: CHAT_SERVERS.qwen }, model: "qwen3.6-27b" };

/** A case for each rule of chat completions. */
export const CHAT_CASES: readonly RuleCase[] = [
  {
    rule: "surrogate",
    valid: plain,
    change: ({ messages }) => (messages[1].content = "half of \ud83d"),
  },
  {
    rule: "surrogate",
    title: "a NUL",
    valid: plain,
    change: ({ messages }) => (messages[1].content = "a\0b"),
  },
  { rule: "field_unknown", valid: plain, change: (body) => (body.thinking = {}) },
  {
    rule: "message_field_unknown",
    valid: withCall,
    change: ({ messages }) => (messages[2].reasoning_content = "Hm."),
  },
  {
    rule: "responses_only",
    title: "a model that reasons unless it is told not to",
    valid: (model) => ({ ...withCall(model), reasoning_effort: "none" }),
    change: (body) => delete body.reasoning_effort,
    model: "gpt-5.5",
  },
  {
    rule: "responses_only",
    title: "a model of the sixth generation",
    valid: (model) => plain(model),
    change: (body) => (body.tools = [READ]),
    model: "gpt-6.1-sol",
  },
  {
    rule: "responses_only",
    title: "with effort",
    valid: withCall,
    change: (body) => (body.reasoning_effort = "low"),
    model: "gpt-5.4",
  },
  {
    rule: "sampling",
    model: "gpt-5.1",
    valid: plain,
    change: (body) => (body.temperature = 0.1),
  },
  {
    rule: "max_tokens_field",
    model: "gpt-5.1",
    valid: (model) => ({ ...plain(model), max_completion_tokens: 100 }),
    change: (body) => (body.max_tokens = 100),
  },
  {
    rule: "max_tokens_field",
    title: "of DeepSeek",
    ...OF_DEEPSEEK,
    valid: (model) => ({ ...plain(model), max_tokens: 100 }),
    change: (body) => (body.max_completion_tokens = 100),
  },
  {
    rule: "system_first",
    ...OF_QWEN,
    valid: plain,
    change: ({ messages }) => messages.push({ role: "system", content: "Be brief." }),
  },
  {
    rule: "reasoning_content",
    ...OF_DEEPSEEK,
    valid: withReasoning,
    change: ({ messages }) => delete messages[2].reasoning_content,
  },
  {
    rule: "reasoning_content",
    title: "another one",
    ...OF_DEEPSEEK,
    valid: withReasoning,
    change: ({ messages }) => (messages[2].reasoning_content = "Hm."),
  },
  {
    rule: "reasoning_details",
    ...OF_OPENROUTER,
    valid: withReasoning,
    change: ({ messages }) => delete messages[2].reasoning_details,
  },
  {
    rule: "reasoning_details",
    title: "in another order",
    ...OF_OPENROUTER,
    valid: withReasoning,
    change: ({ messages }) => messages[2].reasoning_details.reverse(),
  },
  {
    rule: "call_unsigned",
    ...OF_GEMINI,
    valid: withReasoning,
    change: ({ messages }) => delete messages[2].tool_calls[0].extra_content,
  },
  {
    rule: "call_unsigned",
    title: "with another signature",
    ...OF_GEMINI,
    valid: withReasoning,
    change: ({ messages }) => {
      messages[2].tool_calls[0].extra_content.google.thought_signature = "c2ln";
    },
  },
  {
    rule: "content_null",
    valid: plain,
    change: ({ messages }) => messages.push({ role: "assistant", content: null }),
  },
  { rule: "tools_empty", valid: plain, change: (body) => (body.tools = []) },
  {
    rule: "call_id_long",
    valid: withCall,
    change: ({ messages }) => {
      messages[2].tool_calls[0].id = "c".repeat(65);
      messages[3].tool_call_id = "c".repeat(65);
    },
  },
  {
    rule: "call_id_repeated",
    valid: withCall,
    change: ({ messages }) => messages.push(...structuredClone(messages.slice(2))),
  },
  {
    rule: "call_unanswered",
    valid: withCall,
    change: ({ messages }) => (messages[3] = { role: "user", content: "Well?" }),
  },
  { rule: "result_unknown", valid: withCall, change: ({ messages }) => messages.splice(2, 1) },
];

import { BINDING_HEADER } from "../../helpers/providers/claude/thinking-rules.ts";
import type { Changing, RuleCase, Talk } from "./cases.ts";

const MARK = { cache_control: { type: "ephemeral" } };
const HOUR = { cache_control: { type: "ephemeral", ttl: "1h" } };
const CONTROLS = { "anthropic-beta": BINDING_HEADER };

const READ = {
  name: "read",
  description: "Reads a file.",
  input_schema: { type: "object", properties: { path: { type: "string" } } },
};

function plain(model: string): Changing {
  return {
    model,
    max_tokens: 2048,
    system: [{ type: "text", text: "You read files before you answer." }],
    messages: [{ role: "user", content: [{ type: "text", text: "Which number is in a.txt?" }] }],
  };
}

function withCall(model: string): Changing {
  const body = plain(model);
  body.tools = [{ ...READ }];
  body.messages.push(
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "toolu_1", name: "read", input: { path: "a.txt" } }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "7" }] },
  );
  return body;
}

/** Two answers with thinking, each after what it was made for. */
export async function withThinking(model: string, talk: Talk): Promise<Changing> {
  const body = plain(model);
  body.tools = [{ ...READ }];
  const first = await talk(body);
  body.messages.push({ role: "assistant", content: first.content });
  const results = first.content
    .filter(({ type }: Changing) => type === "tool_use")
    .map(({ id }: Changing) => ({ type: "tool_result", tool_use_id: id, content: "7" }));
  body.messages.push({
    role: "user",
    content: [...results, { type: "text", text: "And in b.txt? Read it." }],
  });
  const second = await talk(body);
  body.messages.push({ role: "assistant", content: second.content });
  body.messages.push({
    role: "user",
    content: [
      ...second.content
        .filter(({ type }: Changing) => type === "tool_use")
        .map(({ id }: Changing) => ({ type: "tool_result", tool_use_id: id, content: "8" })),
      { type: "text", text: "Thank you." },
    ],
  });
  return body;
}

const withoutThinking = (content: Changing): Changing =>
  content.filter(({ type }: Changing) => type !== "thinking");

/** A case for each rule of the Messages API. */
export const CLAUDE_CASES: readonly RuleCase[] = [
  { rule: "key", valid: plain, change: (_, headers) => delete headers["x-api-key"] },
  {
    rule: "surrogate",
    valid: plain,
    change: ({ messages }) => (messages[0].content[0].text = "half of \ud83d"),
  },
  { rule: "field_unknown", valid: plain, change: (body) => (body.colour = "red") },
  {
    rule: "field_unknown",
    title: "of a block",
    valid: plain,
    change: ({ messages }) => (messages[0].content[0].index = 0),
  },
  {
    rule: "field_unknown",
    title: "a cache mark on thinking",
    valid: withThinking,
    change: ({ messages }) => Object.assign(messages[1].content[0], MARK),
  },
  {
    rule: "field_unknown",
    title: "of a tool",
    valid: withCall,
    change: ({ tools }) => (tools[0].colour = "red"),
  },
  { rule: "max_tokens", valid: plain, change: (body) => delete body.max_tokens },
  {
    rule: "beta_unknown",
    model: "claude-sonnet-4-5",
    account: { refusesBetas: true },
    valid: plain,
    change: (_, headers) => Object.assign(headers, CONTROLS),
  },
  {
    rule: "cache_marks",
    valid: (model) => {
      const body = withCall(model);
      const marked = [body.tools[0], body.system[0], body.messages[0].content[0]];
      [...marked, body.messages[1].content[0]].forEach((block) => Object.assign(block, MARK));
      return body;
    },
    change: ({ messages }) => Object.assign(messages[2].content[0], MARK),
  },
  {
    rule: "cache_mark_empty",
    valid: (model) => {
      const body = plain(model);
      Object.assign(body.messages[0].content[0], MARK);
      return body;
    },
    change: ({ messages }) => (messages[0].content[0].text = ""),
  },
  {
    rule: "cache_life_order",
    valid: (model) => {
      const body = plain(model);
      Object.assign(body.system[0], HOUR);
      Object.assign(body.messages[0].content[0], MARK);
      return body;
    },
    change: ({ system, messages }) => {
      Object.assign(system[0], MARK);
      Object.assign(messages[0].content[0], HOUR);
    },
  },
  {
    rule: "text_empty",
    valid: plain,
    change: ({ messages }) => messages[0].content.push({ type: "text", text: "" }),
  },
  { rule: "content_empty", valid: plain, change: ({ messages }) => (messages[0].content = []) },
  {
    rule: "role_system",
    model: "claude-sonnet-5",
    valid: plain,
    change: ({ messages }) => messages.push({ role: "system", content: "Be brief." }),
  },
  {
    rule: "role_system_first",
    valid: (model) => {
      const body = plain(model);
      body.messages.push({ role: "system", content: "Be brief." });
      return body;
    },
    change: ({ messages }) => messages.unshift(messages.pop()),
  },
  {
    rule: "assistant_last",
    valid: plain,
    change: ({ messages }) => messages.push({ role: "assistant", content: "It is" }),
  },
  { rule: "sampling", valid: plain, change: (body) => (body.temperature = 0) },
  {
    rule: "effort",
    valid: (model) => ({ ...plain(model), output_config: { effort: "low" } }),
    change: ({ output_config }) => (output_config.effort = "minimal"),
  },
  {
    rule: "thinking_budget",
    valid: (model) => ({ ...plain(model), thinking: { type: "adaptive" } }),
    change: (body) => (body.thinking = { type: "enabled", budget_tokens: 1024 }),
  },
  {
    rule: "thinking_off",
    valid: plain,
    change: (body) => (body.thinking = { type: "disabled" }),
  },
  {
    rule: "thinking_adaptive",
    model: "claude-sonnet-4-5",
    valid: plain,
    change: (body) => (body.thinking = { type: "adaptive" }),
  },
  {
    rule: "tool_forced",
    valid: withCall,
    change: (body) => (body.tool_choice = { type: "any" }),
  },
  { rule: "tool_repeated", valid: withCall, change: ({ tools }) => tools.push(READ) },
  {
    rule: "call_id_form",
    valid: withCall,
    change: ({ messages }) => {
      messages[1].content[0].id = "read:0";
      messages[2].content[0].tool_use_id = "read:0";
    },
  },
  {
    rule: "call_id_repeated",
    valid: withCall,
    change: ({ messages }) => messages.push(...structuredClone(messages.slice(1))),
  },
  {
    rule: "result_repeated",
    valid: withCall,
    change: ({ messages }) => messages[2].content.push(messages[2].content[0]),
  },
  {
    rule: "call_unanswered",
    valid: withCall,
    change: ({ messages }) => (messages[2].content = "no result"),
  },
  {
    rule: "result_unknown",
    valid: withCall,
    change: ({ messages }) => messages.splice(1, 1),
  },
  {
    rule: "thinking_binding_header",
    headers: CONTROLS,
    valid: (model) => ({
      ...plain(model),
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } },
    }),
    change: (_, headers) => delete headers["anthropic-beta"],
  },
  {
    rule: "thinking_latest",
    model: "claude-opus-5",
    valid: withThinking,
    change: ({ messages }) => (messages[3].content[0].thinking += "!"),
  },
  {
    rule: "thinking_signature",
    model: "claude-opus-5",
    valid: withThinking,
    change: ({ messages }) => (messages[1].content[0].signature = "forged"),
  },
  {
    rule: "thinking_gap",
    title: "after one that is kept",
    valid: withThinking,
    change: ({ messages }) => (messages[3].content = withoutThinking(messages[3].content)),
  },
  {
    rule: "thinking_prefix",
    title: "the system prompt",
    valid: withThinking,
    change: ({ system }) => (system[0].text += " Today is Monday."),
  },
  {
    rule: "thinking_prefix",
    title: "a tool more",
    valid: withThinking,
    change: ({ tools }) => tools.push({ ...READ, name: "write" }),
  },
  {
    rule: "thinking_prefix",
    title: "a result",
    valid: withThinking,
    change: ({ messages }) => (messages[2].content[0].content = "seven"),
  },
  {
    rule: "thinking_prefix",
    title: "an error in place of a drop",
    headers: CONTROLS,
    account: { enforcesPrefix: false },
    valid: async (model, talk) => ({
      ...(await withThinking(model, talk)),
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } },
    }),
    change: ({ system }) => (system[0].text += " Today is Monday."),
  },
];

import type { Changing, RuleCase, Talk } from "./cases.ts";

const READ = {
  type: "function",
  name: "read",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } } },
  strict: false,
};

function plain(model: string): Changing {
  return {
    model,
    store: false,
    include: ["reasoning.encrypted_content"],
    instructions: "You read files before you answer.",
    input: [{ role: "user", content: "Which number is in a.txt? Read it." }],
    tools: [{ ...READ }],
  };
}

function withCall(model: string): Changing {
  const body = plain(model);
  const call = { type: "function_call", call_id: "call_1", name: "read", arguments: "{}" };
  body.input.push(call, { type: "function_call_output", call_id: "call_1", output: "7" });
  return body;
}

const outputsOf = (output: Changing): Changing =>
  output
    .filter(({ type }: Changing) => type === "function_call")
    .map(({ call_id }: Changing) => ({ type: "function_call_output", call_id, output: "7" }));

/** An answer with reasoning and a call, and its result. */
export async function withReasoning(model: string, talk: Talk, more = {}): Promise<Changing> {
  const body = { ...plain(model), ...more };
  const { output } = await talk(body);
  body.input.push(...output, ...outputsOf(output), { role: "user", content: "And what is it?" });
  return body;
}

const reasoningIn = ({ input }: Changing): Changing =>
  input.find(({ type }: Changing) => type === "reasoning");

/** A case for each rule of the Responses API. */
export const RESPONSES_CASES: readonly RuleCase[] = [
  {
    rule: "surrogate",
    valid: plain,
    change: ({ input }) => (input[0].content = "half of \ud83d"),
  },
  { rule: "parameter_unknown", valid: plain, change: (body) => (body.messages = []) },
  {
    rule: "parameter_unknown",
    title: "of an item",
    valid: withCall,
    change: ({ input }) => (input[1].index = 0),
  },
  { rule: "sampling", valid: plain, change: (body) => (body.temperature = 0) },
  {
    rule: "previous_unknown",
    valid: plain,
    change: (body) => (body.previous_response_id = "resp_unknown"),
  },
  { rule: "item_id_form", valid: withCall, change: ({ input }) => (input[1].id = "call_1") },
  {
    rule: "summary_missing",
    valid: withReasoning,
    change: (body) => delete reasoningIn(body).summary,
  },
  {
    rule: "reasoning_unencrypted",
    valid: withReasoning,
    change: (body) => delete reasoningIn(body).encrypted_content,
  },
  {
    rule: "reasoning_forged",
    valid: withReasoning,
    change: (body) => (reasoningIn(body).encrypted_content = "gAAAforged"),
  },
  {
    rule: "reasoning_alone",
    valid: withReasoning,
    change: ({ input }) => input.splice(2, 2),
  },
  {
    rule: "reasoning_left_out",
    title: "of a stored answer",
    valid: (model, talk) => withReasoning(model, talk, { store: true }),
    change: ({ input }) => input.splice(1, 1),
  },
  {
    rule: "call_id_long",
    valid: withCall,
    change: ({ input }) => {
      input[1].call_id = "c".repeat(65);
      input[2].call_id = "c".repeat(65);
    },
  },
  {
    rule: "call_id_repeated",
    valid: withCall,
    change: ({ input }) => input.push(...structuredClone(input.slice(1))),
  },
  { rule: "call_unanswered", valid: withCall, change: ({ input }) => input.pop() },
  { rule: "result_unknown", valid: withCall, change: ({ input }) => input.splice(1, 1) },
];

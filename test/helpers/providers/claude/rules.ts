import { type Body, repeated, type Rule, someText, unknownFields } from "../rules.ts";
import { lifeOf, markOf } from "./cache.ts";
import { CLAUDE_CALL_RULES } from "./call-rules.ts";
import type { ClaudeMemory } from "./memory.ts";
import {
  claudeModel,
  takesAdaptive,
  takesBudget,
  takesForcedTool,
  takesPrefill,
  takesSampling,
  takesSystemMessages,
  thinksAlways,
} from "./models.ts";
import {
  type Block,
  canonical,
  contentOf,
  messagesBody,
  type Placed,
  placedIn,
} from "./request.ts";
import { THINKING_RULES } from "./thinking-rules.ts";

const FIELDS = [
  "model messages max_tokens system tools tool_choice metadata stop_sequences stream temperature",
  "top_k top_p thinking output_config service_tier container inference_geo cache_control",
  "user_profile_id context_management mcp_servers",
]
  .join(" ")
  .split(" ");

/** Fields of blocks; of other types nothing is known. */
const BLOCK_FIELDS: Readonly<Record<string, string>> = {
  text: "type text cache_control citations",
  thinking: "type thinking signature",
  redacted_thinking: "type data",
  tool_use: "type id name input cache_control caller toolset_name",
  tool_result: "type tool_use_id content is_error cache_control toolset_name",
  image: "type source cache_control transformations",
};

const TOOL_FIELDS =
  "type name description input_schema cache_control strict eager_input_streaming defer_loading allowed_callers input_examples";

const EFFORTS = ["low", "medium", "high", "xhigh", "max"];

/** Rules about one request alone, in the order in which they are checked. */
const REQUEST_RULES: readonly Rule<ClaudeMemory>[] = [
  {
    id: "key",
    source: "platform.claude.com/docs/en/api/errors, 2026-11-26",
    refuses: (_, { "x-api-key": key }) =>
      key === undefined
        ? { message: "x-api-key header is required", status: 401, type: "authentication_error" }
        : null,
  },
  {
    id: "surrogate",
    source: "github.com/anthropics/claude-code/issues/60394, 2026-05-19",
    refuses: (body) =>
      someText(body, (text) => !text.isWellFormed())
        ? "The request body is not valid JSON: no low surrogate in string: line 1 column 2 (char 1)"
        : null,
  },
  {
    id: "field_unknown",
    source: "github.com/UKGovernmentBEIS/inspect_ai/pull/3967, 2026-05-18",
    refuses: (body) => {
      const [first] = unknownPaths(body);
      return first === undefined ? null : `${first}: Extra inputs are not permitted`;
    },
  },
  {
    id: "max_tokens",
    source: "platform.claude.com/docs/en/api/messages/create, 2026-11-26",
    refuses: ({ max_tokens }) => (max_tokens === undefined ? "max_tokens: Field required" : null),
  },
  {
    id: "beta_unknown",
    source: "github.com/BerriAI/litellm/pull/41203, 2026-11-26",
    refuses: (_, headers, { refusesBetas }) =>
      refusesBetas && headers["anthropic-beta"] !== undefined ? "invalid beta flag" : null,
  },
  {
    id: "cache_marks",
    source: "github.com/vellum-ai/vellum-assistant/pull/18023, 2026-03-16",
    refuses: (body) => {
      const found = marksOf(body).length;
      return found > 4
        ? `A maximum of 4 blocks with cache_control may be provided. Found ${found}.`
        : null;
    },
  },
  {
    id: "cache_mark_empty",
    source: "github.com/anthropics/claude-code/issues/50082, 2026-04-17",
    refuses: (body) => {
      const empty = marksOf(body).find(({ block }) => block["text"] === "");
      return empty === undefined
        ? null
        : `${empty.path}.text: cache_control cannot be set for empty text blocks`;
    },
  },
  {
    id: "cache_life_order",
    source: "github.com/headroomlabs-ai/headroom/issues/2939, 2026-08-12",
    refuses: (body) => {
      const marks = marksOf(body);
      const short = marks.findIndex(({ block }) => lifeOf(markOf(block) ?? NO_MARK) === "5m");
      const late = marks.find(
        ({ block }, at) => short !== -1 && at > short && lifeOf(markOf(block) ?? NO_MARK) === "1h",
      );
      return late === undefined
        ? null
        : `${late.path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: tools, system, messages.`;
    },
  },
  {
    id: "text_empty",
    source: "github.com/anthropics/claude-code/issues/61123, 2026-05-21",
    refuses: (body) =>
      placedIn(body).some(({ block }) => block.type === "text" && block["text"] === "")
        ? "messages: text content blocks must be non-empty"
        : null,
  },
  {
    id: "content_empty",
    source: "platform.claude.com/docs/en/api/messages/create, 2026-11-26",
    refuses: (body) => {
      const { messages } = messagesBody(body);
      const empty = messages.findIndex(({ content }) => content.length === 0);
      return empty === -1
        ? null
        : `messages.${empty}: all messages must have non-empty content except for the optional final assistant message`;
    },
  },
  {
    id: "role_system",
    source: "github.com/anthropics/claude-agent-sdk-typescript/issues/350, 2026-06-15",
    refuses: (body) => {
      const { model, messages } = messagesBody(body);
      return messages.some(({ role }) => role === "system") &&
        !takesSystemMessages(claudeModel(model))
        ? 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
        : null;
    },
  },
  {
    id: "role_system_first",
    source: "github.com/LeenHawk/gproxy/issues/209, 2026-09-04",
    refuses: (body) =>
      messagesBody(body).messages[0]?.role === "system"
        ? "messages.0: use the top-level 'system' parameter for the initial system prompt"
        : null,
  },
  {
    id: "assistant_last",
    source: "github.com/langchain-ai/deepagents/issues/1585, 2026-11-26",
    refuses: (body, _, { paused }) => {
      const { model, messages } = messagesBody(body);
      const last = messages.at(-1);
      const isPaused = paused.has(contentOf(last?.content).map(canonical).join());
      return last?.role === "assistant" && !isPaused && !takesPrefill(claudeModel(model))
        ? "This model does not support assistant message prefill. The conversation must end with a user message."
        : null;
    },
  },
  {
    id: "sampling",
    source: "github.com/earendil-works/pi/pull/7961, 2026-08-11",
    refuses: ({ model, temperature = 1, top_p, top_k }) => {
      const given = { temperature: temperature === 1 ? undefined : temperature, top_p, top_k };
      const [name] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
      return name === undefined || takesSampling(claudeModel(model))
        ? null
        : `\`${name}\` is deprecated for this model.`;
    },
  },
  {
    id: "effort",
    source: "platform.claude.com/docs/en/build-with-claude/effort, 2026-11-23",
    refuses: (body) => {
      const effort = messagesBody(body).output_config?.effort;
      return effort === undefined || EFFORTS.includes(effort)
        ? null
        : "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'";
    },
  },
  {
    id: "thinking_budget",
    source: "platform.claude.com/docs/en/models/sonnet-5-5/migration-guide, 2026-11-26",
    refuses: (body) => {
      const { model, thinking } = messagesBody(body);
      return thinking?.type === "enabled" && !takesBudget(claudeModel(model))
        ? '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        : null;
    },
  },
  {
    id: "thinking_off",
    source: "dev.to/persimmoq claude-opus-55-sonnet-55-5-settings-that-return-400, 2026-10-06",
    refuses: (body) => {
      const { model, thinking } = messagesBody(body);
      return thinking?.type === "disabled" && thinksAlways(claudeModel(model))
        ? '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        : null;
    },
  },
  {
    id: "thinking_adaptive",
    source: "platform.claude.com/docs/en/build-with-claude/adaptive-thinking, 2026-11-26",
    refuses: (body) => {
      const { model, thinking } = messagesBody(body);
      return thinking?.type === "adaptive" && !takesAdaptive(claudeModel(model))
        ? "adaptive thinking is not supported on this model"
        : null;
    },
  },
  {
    id: "tool_forced",
    source: "platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5, 2026-11-26",
    refuses: (body) => {
      const { model, tool_choice } = messagesBody(body);
      const isForced = tool_choice?.type === "any" || tool_choice?.type === "tool";
      return isForced && !takesForcedTool(claudeModel(model))
        ? `tool_choice: "${tool_choice.type}" is not supported for this model.`
        : null;
    },
  },
  {
    id: "tool_repeated",
    source: "github.com/danny-avila/LibreChat/issues/13162, 2026-05-17",
    refuses: (body) => {
      const names = (messagesBody(body).tools ?? []).map(({ name }) => String(name));
      return repeated(names) === undefined ? null : "tools: Tool names must be unique.";
    },
  },
];

export const CLAUDE_RULES: readonly Rule<ClaudeMemory>[] = [
  ...REQUEST_RULES,
  ...CLAUDE_CALL_RULES,
  ...THINKING_RULES,
];

const NO_MARK = { type: "none" };

/** Blocks with cache marks; the mark of a whole request is on an invented one at the end. */
function marksOf(body: Body): Placed[] {
  const { cache_control } = messagesBody(body);
  const whole: Block = { type: "whole", cache_control };
  const end: Placed = { in: "messages", path: "", message: -1, role: "", block: whole };
  return [...placedIn(body), end].filter(({ block }) => markOf(block) !== undefined);
}

function unknownPaths(body: Body): string[] {
  const { messages } = messagesBody(body);
  return [
    ...unknownFields(body, FIELDS),
    ...messages.flatMap((message, at) =>
      unknownFields(message, ["role", "content"]).map((name) => `messages.${at}.${name}`),
    ),
    ...placedIn(body).flatMap(({ in: where, block, path }) => {
      const type = block.type ?? "";
      const known = where === "tools" ? TOOL_FIELDS : BLOCK_FIELDS[type];
      return known === undefined
        ? []
        : unknownFields(block, known.split(" ")).map((name) =>
            where === "tools" ? `${path}.custom.${name}` : `${path}.${type}.${name}`,
          );
    }),
  ];
}

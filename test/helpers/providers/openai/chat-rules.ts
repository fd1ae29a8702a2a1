import { isDeepStrictEqual } from "node:util";

import { repeated, type Rule, someText, unknownFields } from "../rules.ts";
import { type ChatMemory, chatBody } from "./chat-request.ts";
import { gptVersion, reasonsByDefault, showsReasoning, takesGptSampling } from "./models.ts";

const FIELDS = [
  "model messages audio frequency_penalty function_call functions logit_bias logprobs metadata n",
  "max_completion_tokens max_tokens modalities moderation parallel_tool_calls prediction",
  "presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort",
  "response_format safety_identifier seed service_tier stop store stream stream_options temperature",
  "tool_choice tools top_logprobs top_p user verbosity web_search_options",
]
  .join(" ")
  .split(" ");

const MESSAGE_FIELDS =
  "role content name audio function_call refusal tool_calls tool_call_id".split(" ");

const LONGEST_ID = 64;

/** Rules of chat completions: OpenAI's, and those of servers that differ from it. */
export const CHAT_RULES: readonly Rule<ChatMemory>[] = [
  {
    id: "surrogate",
    source: "github.com/JohnnyZ93/oai-compatible-copilot/issues/206, 2026-04-26",
    refuses: (body) =>
      someText(body, (text) => !text.isWellFormed() || text.includes("\0"))
        ? "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly.)"
        : null,
  },
  {
    id: "field_unknown",
    source: "github.com/nashsu/llm_wiki/issues/336, 2026-06-04",
    refuses: (body, _, { quirks }) => {
      const [name] = unknownFields(body, FIELDS);
      return name === undefined || quirks.ignoresFields
        ? null
        : `Unrecognized request argument supplied: ${name}`;
    },
  },
  {
    id: "message_field_unknown",
    source: "github.com/agentscope-ai/QwenPaw/pull/707, 2026-03-05",
    refuses: (body, _, { quirks }) => {
      const { messages, model } = chatBody(body);
      const known = showsReasoning(model)
        ? [...MESSAGE_FIELDS, "reasoning_content"]
        : MESSAGE_FIELDS;
      const names = messages.flatMap((message, at) =>
        unknownFields(message, known).map((name) => `messages[${at}].${name}`),
      );
      return names.length === 0 || quirks.ignoresFields
        ? null
        : {
            message: `Unknown parameter: '${names[0] ?? ""}'.`,
            param: names[0] ?? "",
            code: "unknown_parameter",
          };
    },
  },
  {
    id: "responses_only",
    source: "github.com/danny-avila/LibreChat/issues/14355, 2026-07-21",
    refuses: (body) => {
      const { model, tools = [], reasoning_effort } = chatBody(body);
      const effort = reasoning_effort ?? (reasonsByDefault(model) ? "medium" : "none");
      return tools.length > 0 && effort !== "none" && (gptVersion(model) ?? 0) >= 5.4
        ? {
            message: `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
            param: "reasoning_effort",
          }
        : null;
    },
  },
  {
    id: "sampling",
    source: "github.com/paperless-ngx/paperless-ngx/issues/12822, 2026-05-18",
    refuses: ({ model, temperature = 1 }) =>
      temperature === 1 || gptVersion(model) === null || takesGptSampling(model)
        ? null
        : {
            message: `Unsupported value: 'temperature' does not support ${String(temperature)} with this model. Only the default (1) value is supported.`,
            param: "temperature",
            code: "unsupported_value",
          },
  },
  {
    id: "max_tokens_field",
    source: "github.com/owndev/Open-WebUI-Functions/issues/136, 2026-02-05",
    refuses: (body, _, { quirks }) => {
      const isGpt = (gptVersion(body["model"]) ?? 0) >= 5;
      const known = quirks.maxTokensField ?? (isGpt ? "max_completion_tokens" : undefined);
      const other = known === "max_tokens" ? "max_completion_tokens" : "max_tokens";
      return known === undefined || body[other] === undefined
        ? null
        : {
            message: `Unsupported parameter: '${other}' is not supported with this model. Use '${known}' instead.`,
            param: other,
            code: "unsupported_parameter",
          };
    },
  },
  {
    id: "system_first",
    source: "github.com/vllm-project/vllm/issues/41114, 2026-04-28",
    refuses: (body, _, { quirks }) =>
      quirks.systemFirst &&
      chatBody(body).messages.some(({ role }, at) => role === "system" && at > 0)
        ? { message: "System message must be at the beginning.", type: "BadRequestError" }
        : null,
  },
  {
    id: "reasoning_content",
    source: "github.com/qwersyk/Newelle/issues/404, 2026-07-04",
    refuses: (body, _, { quirks, reasoning }) => {
      const isMissing = chatBody(body).messages.some(
        ({ tool_calls = [], reasoning_content }) =>
          tool_calls.length > 0 &&
          (reasoning_content === undefined ||
            tool_calls.some(
              ({ id }) => (reasoning.get(id) ?? reasoning_content) !== reasoning_content,
            )),
      );
      return quirks.passesReasoningBack && isMissing
        ? {
            message: "The `reasoning_content` in the thinking mode must be passed back to the API.",
            code: "invalid_request_error",
          }
        : null;
    },
  },
  {
    id: "reasoning_details",
    source: "openrouter.ai/docs/guides/best-practices/reasoning-tokens, 2026-06-07",
    refuses: (body, _, { quirks, details }) => {
      const isMissing = chatBody(body).messages.some(
        ({ tool_calls = [], reasoning_details = [] }) =>
          tool_calls.some(({ id }) => {
            const given = details.get(id);
            return given !== undefined && !isDeepStrictEqual(JSON.parse(given), reasoning_details);
          }),
      );
      return quirks.reasoningDetails && isMissing
        ? { message: "Provider returned error", code: "400" }
        : null;
    },
  },
  {
    id: "call_unsigned",
    source: "github.com/google/adk-python/issues/3693, 2026-09-22",
    refuses: (body, _, { quirks, signatures }) => {
      const { messages, model } = chatBody(body);
      const latest = messages.findLastIndex(({ role }) => role === "user");
      const unsigned = messages.slice(latest).find(({ tool_calls: [first] = [] }) => {
        if (first === undefined) {
          return false;
        }
        const signature = signatures.get(first.id);
        const sent = JSON.stringify(first.extra_content ?? null);
        return signature === undefined ? !sent.includes("thought_signature") : sent !== signature;
      });
      return quirks.signsCalls && /gemini-[3-9]/.test(model) && unsigned !== undefined
        ? {
            message:
              "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.",
            type: "INVALID_ARGUMENT",
          }
        : null;
    },
  },
  {
    id: "content_null",
    source: "github.com/vercel/ai/pull/13744, 2026-04-30",
    refuses: (body) => {
      const at = chatBody(body).messages.findIndex(
        ({ content, tool_calls = [] }) => (content ?? null) === null && tool_calls.length === 0,
      );
      return at === -1
        ? null
        : {
            message: "Invalid value for 'content': expected a string, got null.",
            param: `messages.[${at}].content`,
          };
    },
  },
  {
    id: "tools_empty",
    source: "developers.openai.com/api/reference/resources/chat, 2026-11-26",
    refuses: (body) =>
      chatBody(body).tools?.length === 0
        ? {
            message:
              "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param: "tools",
            code: "empty_array",
          }
        : null,
  },
  {
    id: "call_id_long",
    source: "github.com/jin-bo/agentao/pull/321, 2026-09-19",
    refuses: (body, _, { quirks }) => {
      const { messages } = chatBody(body);
      for (const [at, { tool_calls = [] }] of messages.entries()) {
        const call = tool_calls.findIndex(({ id }) => id.length > LONGEST_ID);
        if (call !== -1 && !quirks.ignoresFields) {
          const param = `messages[${at}].tool_calls[${call}].id`;
          const length = tool_calls[call]?.id.length;
          return {
            message: `Invalid '${param}': string too long. Expected a string with maximum length ${LONGEST_ID}, but got a string with length ${length} instead.`,
            param,
            code: "string_above_max_length",
          };
        }
      }
      return null;
    },
  },
  {
    id: "call_id_repeated",
    source: "github.com/vectorize-io/hindsight/pull/4250, 2026-09-09",
    refuses: (body) => {
      const { messages } = chatBody(body);
      const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
      const results = messages.flatMap(({ tool_call_id }) => tool_call_id ?? []);
      const id = repeated(calls) ?? repeated(results);
      return id === undefined ? null : `Duplicate value for 'tool_call_id' of '${id}'`;
    },
  },
  {
    id: "call_unanswered",
    source: "github.com/spring-ai-community/spring-ai-session/issues/44, 2026-09-09",
    refuses: (body) => {
      const { messages } = chatBody(body);
      for (const [at, { tool_calls = [] }] of messages.entries()) {
        const next = messages.findIndex(({ role }, index) => index > at && role !== "tool");
        const results = messages.slice(at + 1, next === -1 ? undefined : next);
        const open = tool_calls.filter(
          ({ id }) => !results.some(({ tool_call_id }) => tool_call_id === id),
        );
        if (open.length > 0) {
          return {
            message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.map(({ id }) => id).join(", ")}`,
            param: `messages.[${at + 1}].role`,
          };
        }
      }
      return null;
    },
  },
  {
    id: "result_unknown",
    source: "github.com/itmisx/deepx-code/issues/94, 2026-06-10",
    refuses: (body) => {
      const { messages } = chatBody(body);
      const at = messages.findIndex(({ role, tool_call_id }, index) => {
        const asked = messages.slice(0, index).findLast((one) => one.role !== "tool");
        return role === "tool" && !asked?.tool_calls?.some(({ id }) => id === tool_call_id);
      });
      return at === -1
        ? null
        : {
            message:
              "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
            param: `messages.[${at}].role`,
          };
    },
  },
];

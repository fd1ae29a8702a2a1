import { brokenRules, type Rule } from "../rules.ts";
import type { Answer, Api, Asked } from "../server.ts";
import { ChatAnswer } from "./chat-answer.ts";
import type { ChatMemory } from "./chat-request.ts";
import { CHAT_RULES } from "./chat-rules.ts";
import { ResponsesAnswer } from "./responses-answer.ts";
import type { ResponsesMemory } from "./responses-request.ts";
import { RESPONSES_RULES } from "./responses-rules.ts";

/** Chat completions of OpenAI and of servers that speak as it does. */
export function chatApi(memory: ChatMemory): Api {
  return openAiApi({
    path: "/v1/chat/completions",
    field: "messages",
    rules: CHAT_RULES,
    memory,
    open: (asked) => new ChatAnswer(asked, memory),
  });
}

/** OpenAI's Responses API. */
export function responsesApi(memory: ResponsesMemory): Api {
  return openAiApi({
    path: "/v1/responses",
    field: "input",
    rules: RESPONSES_RULES,
    memory,
    open: (asked) => new ResponsesAnswer(asked, memory),
  });
}

interface OpenAiApi<Memory> {
  readonly path: string;
  /** A request without a list in this field is read no further. */
  readonly field: string;
  readonly rules: readonly Rule<Memory>[];
  readonly memory: Memory;
  readonly open: (asked: Asked) => Answer;
}

function openAiApi<Memory>({ path, field, rules, memory, open }: OpenAiApi<Memory>): Api {
  return {
    path,
    broken: (body, headers) =>
      Array.isArray(body[field]) || (field === "input" && typeof body[field] === "string")
        ? brokenRules(rules, body, headers, memory)
        : [{ rule: field, message: `Missing required parameter: '${field}'.` }],
    error: ({ message, type = "invalid_request_error", param = null, code = null }) => ({
      error: { message, type, param, code },
    }),
    open,
  };
}

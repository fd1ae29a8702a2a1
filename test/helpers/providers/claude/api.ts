import { brokenRules } from "../rules.ts";
import type { Api } from "../server.ts";
import { ClaudeAnswer } from "./answer.ts";
import type { ClaudeMemory } from "./memory.ts";
import { CLAUDE_RULES } from "./rules.ts";

/** Anthropic's Messages API. */
export function claudeApi(memory: ClaudeMemory): Api {
  return {
    path: "/v1/messages",
    broken: (body, headers) =>
      Array.isArray(body["messages"])
        ? brokenRules(CLAUDE_RULES, body, headers, memory)
        : [{ rule: "messages", message: "messages: Field required" }],
    error: ({ message, type = "invalid_request_error", status: _, ...more }) => ({
      type: "error",
      error: { type, message, ...more },
      request_id: "req_mock",
    }),
    open: (asked) => new ClaudeAnswer(asked, memory),
  };
}

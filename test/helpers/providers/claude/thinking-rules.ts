import type { IncomingHttpHeaders } from "node:http";

import type { Rule } from "../rules.ts";
import type { ClaudeMemory } from "./memory.ts";
import { canonical, contentOf, isThinking, messagesBody, type MessagesBody } from "./request.ts";
import { type Mismatch, mismatches, type Thought, thoughtsOf } from "./thinking.ts";

export const BINDING_HEADER = "thinking-binding-controls-2026-08-01";

const PREFIX_CHECKS =
  "platform.claude.com/docs/build-with-claude/preserved-thinking/prefix-checks, 2026-11-23";

/** Rules about the thinking that a request sends back. */
export const THINKING_RULES: readonly Rule<ClaudeMemory>[] = [
  {
    id: "thinking_binding_header",
    source: "github.com/anomalyco/opencode/issues/48637, 2026-09-12",
    refuses: (body, headers) =>
      messagesBody(body).thinking?.block_binding !== undefined && !hasHeader(headers)
        ? `thinking.block_binding: this setting requires the \`${BINDING_HEADER}\` value in the \`anthropic-beta\` header.`
        : null,
  },
  {
    id: "thinking_latest",
    source: "github.com/minpeter/minpeter.v2/pull/78, 2026-07-20",
    refuses: (body, _, memory) => {
      const request = messagesBody(body);
      const message = request.messages.findLastIndex(({ role }) => role === "assistant");
      const sent = thoughtsOf(request).filter((thought) => thought.message === message);
      const made = madeAs(request, message, memory);
      const isChanged =
        sent.some(({ seal }) => seal === null) ||
        (made.length > 0 && sent.length > 0 && !made.some((one) => isSame(sent, one)));
      return isChanged
        ? `${sent[0]?.path ?? ""}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`
        : null;
    },
  },
  {
    id: "thinking_signature",
    source: "github.com/anthropics/anthropic-sdk-python/issues/1598, 2026-08-05",
    refuses: (body) => {
      const forged = thoughtsOf(messagesBody(body)).find(({ seal }) => seal === null);
      return forged === undefined
        ? null
        : `${forged.path}: Invalid \`signature\` in \`thinking\` block`;
    },
  },
  {
    id: "thinking_gap",
    source: PREFIX_CHECKS,
    refuses: (body, headers, memory) => {
      const request = messagesBody(body);
      const moved = mismatches(request).find(({ what }) => what === "order");
      if (moved !== undefined && isEnforced(request, memory)) {
        return boundElsewhere(moved, headers);
      }
      const first = thoughtsOf(request)[0];
      const left = request.messages.findIndex(
        ({ role, content }, at) =>
          first !== undefined &&
          at > first.message &&
          role === "assistant" &&
          !contentOf(content).some(isThinking) &&
          isThoughtful(madeAs(request, at, memory)),
      );
      return first === undefined || left === -1 || !isEnforced(request, memory)
        ? null
        : boundElsewhere({ thought: first, what: "order" }, headers);
    },
  },
  {
    id: "thinking_prefix",
    source: PREFIX_CHECKS,
    refuses: (body, headers, memory) => {
      const request = messagesBody(body);
      const changed = mismatches(request).find(({ what }) => what !== "order");
      return changed !== undefined && isEnforced(request, memory)
        ? boundElsewhere(changed, headers)
        : null;
    },
  },
];

export function hasHeader(headers: IncomingHttpHeaders): boolean {
  return String(headers["anthropic-beta"] ?? "")
    .split(/\s*,\s*/)
    .includes(BINDING_HEADER);
}

function isEnforced({ thinking }: MessagesBody, { enforcesPrefix }: ClaudeMemory): boolean {
  const behaviour = thinking?.block_binding?.prefix_mismatch_behavior;
  return behaviour === undefined ? enforcesPrefix : behaviour === "error";
}

const CHANGED: Readonly<Record<Mismatch["what"], string>> = {
  system: " The `system` prompt differs from the one this block was created with.",
  tools: " The `tools` differ from those this block was created with.",
  messages: " A message before it differs from the one this block was created with.",
  order: "",
};

function boundElsewhere({ thought, what }: Mismatch, headers: IncomingHttpHeaders): string {
  const header = hasHeader(headers)
    ? ""
    : ` That setting requires the \`${BINDING_HEADER}\` value in the \`anthropic-beta\` header.`;
  return `${thought.path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".${header}${CHANGED[what]}`;
}

/** The signatures of each answer that a message may have been. */
function madeAs({ messages }: MessagesBody, at: number, { answers }: ClaudeMemory) {
  return answers.get(withoutThinking(messages[at]?.content ?? [])) ?? [];
}

function isThoughtful(made: readonly (readonly string[])[]): boolean {
  return made.length > 0 && made.every((signatures) => signatures.length > 0);
}

export function withoutThinking(content: MessagesBody["messages"][number]["content"]): string {
  return contentOf(content)
    .filter((block) => !isThinking(block))
    .map(canonical)
    .join("\n");
}

function isSame(sent: readonly Thought[], made: readonly string[]): boolean {
  return sent.length === made.length && sent.every(({ signature }, at) => signature === made[at]);
}

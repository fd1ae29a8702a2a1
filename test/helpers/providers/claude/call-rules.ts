import { repeated, type Rule } from "../rules.ts";
import type { ClaudeMemory } from "./memory.ts";
import { contentOf, messagesBody, placedIn } from "./request.ts";

/** Rules about calls and their results. */
export const CLAUDE_CALL_RULES: readonly Rule<ClaudeMemory>[] = [
  {
    id: "call_id_form",
    source: "github.com/HKUDS/nanobot/pull/4356, 2026-06-15",
    refuses: (body) => {
      const wrong = placedIn(body).find(
        ({ block }) => block.type === "tool_use" && !/^[a-zA-Z0-9_-]+$/.test(String(block["id"])),
      );
      return wrong === undefined
        ? null
        : `${wrong.path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
    },
  },
  {
    id: "call_id_repeated",
    source: "github.com/BerriAI/litellm/issues/23510, 2026-03-13",
    refuses: (body) => {
      const calls = placedIn(body).filter(({ block }) => block.type === "tool_use");
      const id = repeated(calls.map(({ block }) => String(block["id"])));
      const last = calls.findLast(({ block }) => block["id"] === id);
      return last === undefined ? null : `${last.path}: \`tool_use\` ids must be unique`;
    },
  },
  {
    id: "result_repeated",
    source: "github.com/vectorize-io/hindsight/pull/4250, 2026-09-09",
    refuses: (body) => {
      const results = placedIn(body).filter(({ block }) => block.type === "tool_result");
      const id = repeated(results.map(({ block }) => String(block["tool_use_id"])));
      const last = results.findLast(({ block }) => block["tool_use_id"] === id);
      return last === undefined
        ? null
        : `${last.path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`;
    },
  },
  {
    id: "call_unanswered",
    source: "github.com/Kilo-Org/kilocode/issues/5163, 2026-01-17",
    refuses: (body) => {
      const { messages } = messagesBody(body);
      for (const [at, { content }] of messages.entries()) {
        const results = contentOf(messages[at + 1]?.content).map((block) => block["tool_use_id"]);
        const open = contentOf(content)
          .filter(({ type, id }) => type === "tool_use" && !results.includes(id))
          .map(({ id }) => String(id));
        if (open.length > 0) {
          return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
        }
      }
      return null;
    },
  },
  {
    id: "result_unknown",
    source: "github.com/anthropics/claude-code/issues/18947, 2026-01-18",
    refuses: (body) => {
      const { messages } = messagesBody(body);
      const stray = placedIn(body).find(
        ({ block, message }) =>
          block.type === "tool_result" &&
          !contentOf(messages[message - 1]?.content).some(({ id }) => id === block["tool_use_id"]),
      );
      return stray === undefined
        ? null
        : `${stray.path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(stray.block["tool_use_id"])}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    },
  },
];

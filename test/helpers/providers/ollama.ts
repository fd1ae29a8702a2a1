import { type Body, brokenRules, type Rule, tokensIn } from "./rules.ts";
import type { Answer, Api, Asked, Received } from "./server.ts";
import { type PartStep, type Step, stepOf } from "./steps.ts";

interface OllamaMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly thinking?: unknown;
  readonly tool_name?: string;
  readonly tool_calls?: readonly { readonly function: { readonly arguments: unknown } }[];
}

/** What the model of a server cannot do. */
export interface OllamaModel {
  readonly noTools?: true;
  readonly noThinking?: true;
}

function messagesIn({ messages }: Body): readonly OllamaMessage[] {
  return messages as readonly OllamaMessage[];
}

/** Rules of Ollama's chat. It ignores fields that it does not know, and takes calls without results. */
export const OLLAMA_RULES: readonly Rule<OllamaModel>[] = [
  {
    id: "model",
    source: "docs.ollama.com/api/chat, 2026-11-26",
    refuses: ({ model }) => (model ? null : "model is required"),
  },
  {
    id: "content_text",
    source: "github.com/BerriAI/litellm/issues/11273, 2026-11-26",
    refuses: (body) => {
      const wrong = messagesIn(body).find(
        ({ content = "" }) => typeof content !== "string" && content !== null,
      );
      return wrong === undefined
        ? null
        : "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string";
    },
  },
  {
    id: "arguments_object",
    source: "github.com/ollama/ollama/issues/12794, 2026-11-26",
    refuses: (body) =>
      messagesIn(body).some(({ tool_calls = [] }) =>
        tool_calls.some((call) => typeof call.function.arguments === "string"),
      )
        ? "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments"
        : null,
  },
  {
    id: "tools_unknown",
    source: "github.com/localgpt-app/localgpt/pull/14, 2026-02-09",
    refuses: ({ model, tools }, _, { noTools }) =>
      noTools && Array.isArray(tools) && tools.length > 0
        ? `registry.ollama.ai/library/${String(model)} does not support tools`
        : null,
  },
  {
    id: "thinking_unknown",
    source: "docs.ollama.com/capabilities/thinking, 2026-11-26",
    refuses: ({ model, think }, _, { noThinking }) =>
      noThinking && think ? `"${String(model)}" does not support thinking` : null,
  },
];

/** Ollama's chat: lines of JSON, and a stream unless the request forbids it. */
export function ollamaApi(model: OllamaModel): Api {
  return {
    path: "/api/chat",
    broken: (body, headers) =>
      Array.isArray(body["messages"])
        ? brokenRules(OLLAMA_RULES, body, headers, model)
        : [{ rule: "messages", message: "messages is required" }],
    error: ({ message }) => ({ error: message }),
    open: (asked) => new OllamaAnswer(asked),
  };
}

class OllamaAnswer implements Answer {
  readonly type = "application/x-ndjson";
  readonly #received: Received;
  readonly #steps: readonly Step[];
  readonly #message = { content: "", thinking: "", tool_calls: [] as object[] };

  constructor({ received, steps }: Asked) {
    this.#received = received;
    this.#steps = steps;
  }

  begin(): string {
    return "";
  }

  write(step: PartStep): string {
    switch (step.kind) {
      case "comment":
        return "";
      case "ping":
        return this.#line({});
      case "error":
        return `${JSON.stringify({ error: step.message ?? "the model runner has stopped" })}\n`;
      case "text":
        this.#message.content += step.text;
        return this.#line({ content: step.text });
      case "reasoning":
        this.#message.thinking += step.text;
        return this.#line({ thinking: step.text });
      case "cut_call":
      case "call": {
        const called = {
          function: { name: step.name, arguments: JSON.parse(step.args) as object },
        };
        this.#message.tool_calls.push(called);
        return this.#line({ tool_calls: [called] });
      }
    }
  }

  end(): string {
    return this.#line({}, this.#ended());
  }

  whole(): unknown {
    return { ...this.#head(), ...this.#ended(), message: { role: "assistant", ...this.#message } };
  }

  #ended(): object {
    const given = stepOf(this.#steps, "usage");
    const { content, thinking, tool_calls } = this.#message;
    const reasoning = tokensIn(thinking);
    const calls = tool_calls.map((one) => JSON.stringify(one)).join("");
    const written = tokensIn(content + calls);
    const input = given?.input ?? tokensIn(JSON.stringify(this.#received.body["messages"]));
    const output = given?.output ?? written + reasoning;
    const cache = { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };
    this.#received.usage = { input, ...cache, output, reasoning };
    const reason = stepOf(this.#steps, "stop")?.reason;
    const done_reason = reason === "length" || reason === "context_full" ? "length" : "stop";
    return { done: true, done_reason, prompt_eval_count: input, eval_count: output };
  }

  #head(): object {
    const { model } = this.#received.body;
    return { model, created_at: "2026-01-01T00:00:00Z", done: false };
  }

  #line(message: object, more: object = {}): string {
    const sent = { role: "assistant", content: "", ...message };
    return `${JSON.stringify({ ...this.#head(), ...more, message: sent })}\n`;
  }
}

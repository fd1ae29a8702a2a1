import { oneLine } from "../../core/text.ts";
import { threadId } from "../../core/threads.ts";
import { defaultModel, modelConfig } from "../../agent/models/config.ts";
import { isDemo } from "../../agent/models/name.ts";
import type { CliContext } from "../context.ts";
import type { Conversation } from "./conversation.ts";

/** What a terminal session begins with: where it is, who answers, and how to get help. */
export function greeting(cli: CliContext, conversation: Conversation): string[] {
  const session = conversation.current();
  const planned = conversation.planned();
  const model = planned.model ?? defaultModel(modelConfig(cli.env));
  const lines = [
    `reprise ${cli.version} · ${oneLine(planned.persona_name ?? "assistant")} · ${oneLine(model)}`,
    session === null
      ? "A new session. /help shows the commands, Ctrl-C stops an answer."
      : `Session ${threadId(session.id, session.thread_suffix)} · ${count(session.last_seq)} · ${oneLine(session.title ?? "no title yet")}`,
  ];
  if (isDemo(model)) {
    lines.push(
      "The offline demo answers from what this session remembers; it is no real model.",
      "For one set ANTHROPIC_API_KEY or OPENAI_API_KEY, or use --model ollama:<name>.",
    );
  }
  return lines;
}

function count(messages: number): string {
  return `${messages} ${messages === 1 ? "message" : "messages"}`;
}

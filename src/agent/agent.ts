import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

import type { Session } from "../core/sessions.ts";
import type { AnswerProgress } from "./answer-progress.ts";
import { newId } from "../core/ids.ts";
import type { CallModel } from "./models/call-model.ts";
import { agentGraph } from "./agent-graph.ts";
import type { Compaction } from "./compaction/compaction.ts";
import type { Persona } from "../exchange/personas/persona.ts";
import { READING_TOOLS, sessionTools } from "./tools/session-tools.ts";

export interface AgentParts {
  readonly session: Session;
  readonly persona: Persona;
  /** The folder whose files the tools use; null for none. */
  readonly folder: string | null;
  /** True if no tool may write in the folder. */
  readonly readOnly: boolean;
  /** The repo's AGENTS.md, or null. */
  readonly instructions: string | null;
  readonly model: BaseChatModel;
  readonly saver: BaseCheckpointSaver;
  /** The tool that begins sub-agents, or null. */
  readonly delegate: StructuredToolInterface | null;
  readonly protectedPaths: readonly string[];
  /** Further tools. */
  readonly tools?: readonly StructuredToolInterface[] | undefined;
  /** Without it each call of the model is one attempt, and not counted. */
  readonly callModel?: CallModel;
  /** Keeps the model's calls within its context; without it the model is sent every message. */
  readonly compaction?: Compaction;
  /** Called with each answer and each result of a tool. */
  readonly onMessage?: AnswerProgress["onMessage"];
}

/** Builds the agent of one exchange. Costs under a millisecond, so nothing is kept between two. */
export function buildAgent(parts: AgentParts) {
  const prompt = systemPrompt(parts);
  return agentGraph({
    model: parts.model,
    tools: [
      ...sessionTools({
        repoPath: parts.folder,
        allowed: allowedTools(parts),
        protectedPaths: parts.protectedPaths,
      }),
      ...(parts.delegate === null ? [] : [parts.delegate]),
      ...(parts.tools ?? []).filter(({ name }) => parts.persona.tools?.includes(name) ?? true),
    ],
    systemPrompt: prompt,
    saver: parts.saver,
    callModel: parts.callModel ?? (({ id = newId(), ask }) => ask(id)),
    onMessage: (...message) => parts.onMessage?.(...message),
    shown: (messages) => parts.compaction?.shown(messages, prompt) ?? messages,
  });
}

export type SessionAgent = ReturnType<typeof buildAgent>;

/** An agent and the thread that it is to work in. */
export interface AgentThread {
  readonly agent: SessionAgent;
  readonly id: string;
}

/** In plan mode, and in a folder that no tool may write to, a persona keeps what changes nothing. */
function allowedTools({ session, persona, readOnly }: AgentParts): readonly string[] | null {
  if (!session.plan_mode && !readOnly) {
    return persona.tools;
  }
  return READING_TOOLS.filter((name) => persona.tools?.includes(name) ?? true);
}

function systemPrompt({ session, persona, folder, readOnly, instructions }: AgentParts): string {
  const parts = [persona.prompt];
  if (folder !== null) {
    parts.push(
      "You work in the folder of this session. File paths are relative to its top, without a leading slash; nothing outside it can be reached.",
    );
  }
  if (readOnly) {
    parts.push("Files of this folder direct other programs: they can be read, but not written.");
  }
  if (session.plan_mode) {
    parts.push(
      "Planning mode is on: look, ask and plan, but change nothing. Say what you would do and in which order.",
    );
  }
  if (instructions !== null) {
    parts.push(`The repository's own instructions (AGENTS.md):\n\n${instructions}`);
  }
  return parts.join("\n\n");
}

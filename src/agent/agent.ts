import type { StructuredToolInterface } from "@langchain/core/tools";

import type { Session } from "../core/sessions.ts";
import { newId } from "../core/ids.ts";
import { agentGraph, type AgentGraph } from "./agent-graph.ts";
import type { Prepared } from "./exchange-context.ts";
import type { Persona } from "../exchange/personas/persona.ts";
import { ASK_USER } from "../exchange/tool-catalogue.ts";
import { askUserTool } from "./tools/ask-user.ts";
import type { Compaction } from "./compaction/compaction.ts";
import { READING_TOOLS, sessionTools } from "./tools/session-tools.ts";

export interface AgentOfExchange
  extends
    Pick<Prepared, "persona" | "folder" | "readOnly" | "instructions" | "model">,
    Pick<AgentGraph, "saver" | "asking">,
    Partial<Pick<AgentGraph, "callModel" | "onMessage" | "askAtLimit">> {
  readonly session: Session;
  /** The tool that begins sub-agents, or null. */
  readonly delegate: StructuredToolInterface | null;
  readonly protectedPaths: readonly string[];
  /** Further tools. */
  readonly tools?: readonly StructuredToolInterface[] | undefined;
  /** Keeps the model's calls within its context; without it the model is sent every message. */
  readonly compaction?: Compaction;
}

/** Builds the agent of one exchange. Costs under a millisecond, so nothing is kept between two. */
export function buildAgent(options: AgentOfExchange) {
  const { folder, protectedPaths, delegate, persona, compaction, tools = [] } = options;
  const prompt = systemPrompt(options);
  return agentGraph({
    ...options,
    tools: [
      ...sessionTools({ repoPath: folder, allowed: allowedTools(options), protectedPaths }),
      ...(delegate === null ? [] : [delegate]),
      ...(options.asking !== undefined && allows(persona, ASK_USER) ? [askUserTool()] : []),
      ...tools.filter(({ name }) => allows(persona, name)),
    ],
    systemPrompt: prompt,
    callModel: options.callModel ?? (({ id = newId(), ask }) => ask(id)),
    onMessage: options.onMessage ?? (() => {}),
    shown: (messages) => compaction?.shown(messages, prompt) ?? messages,
  });
}

function allows({ tools }: Persona, name: string): boolean {
  return tools?.includes(name) ?? true;
}

/** An agent and the config that names the thread that it is to work in. */
export interface AgentThread {
  readonly agent: ReturnType<typeof buildAgent>;
  readonly config: { readonly configurable: { readonly thread_id: string } };
}

/** In plan mode, and if no tool may write, a persona keeps what changes nothing. */
function allowedTools({ session, persona, readOnly }: AgentOfExchange): readonly string[] | null {
  if (!session.plan_mode && readOnly === null) {
    return persona.tools;
  }
  return READING_TOOLS.filter((name) => persona.tools?.includes(name) ?? true);
}

const READ_ONLY = {
  folder: "Files of this folder direct other programs: they can be read, but not written.",
  unattended: "Nobody can be asked in this exchange, so files can be read, but not written.",
} as const;

function systemPrompt({
  session,
  persona,
  folder,
  readOnly,
  instructions,
}: AgentOfExchange): string {
  const parts = [persona.prompt];
  if (folder !== null) {
    parts.push(
      "You work in the folder of this session. File paths are relative to its top, without a leading slash; nothing outside it can be reached.",
    );
  }
  if (readOnly !== null) {
    parts.push(READ_ONLY[readOnly]);
  }
  if (session.plan_mode) {
    parts.push(
      "Planning mode is on: read, ask and plan, but change nothing. Say what you would do and in which order.",
    );
  }
  if (instructions !== null) {
    parts.push(`The repository's own instructions (AGENTS.md):\n\n${instructions}`);
  }
  return parts.join("\n\n");
}

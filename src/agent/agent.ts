import type { StructuredToolInterface } from "@langchain/core/tools";

import type { Session } from "../core/sessions.ts";
import type { ToolSet } from "../core/tools.ts";
import { newId } from "../core/ids.ts";
import { agentGraph, type Worker } from "./agent-graph.ts";
import { modelWorker, type WorkingModel } from "./model-worker.ts";
import type { ExchangeTools } from "./tools-node.ts";
import type { Prepared } from "./exchange-context.ts";
import { HAND_IN_PLAN } from "../rules/tools/built-in.ts";
import type { GitUser } from "../workspace/places/ask-git.ts";
import { isOffered } from "../rules/permissions/decide.ts";
import type { Layer } from "../rules/permissions/layers.ts";
import type { PermitFiles } from "./permit/permit-files.ts";
import type { KnownFiles } from "./known-files.ts";
import { askUserTool } from "./tools/ask-user.ts";
import { type CheckPlan, handInPlanTool } from "./tools/hand-in-plan.ts";
import type { Compaction } from "./compaction/compaction.ts";
import { sessionTools } from "./tools/session-tools.ts";

export interface AgentOfExchange
  extends
    Pick<Prepared, "persona" | "folder" | "root" | "readOnly" | "instructions" | "model">,
    Pick<ExchangeTools, "saver" | "asking" | "permit">,
    Pick<Parameters<typeof sessionTools>[0], "keep">,
    Partial<Pick<WorkingModel, "callModel" | "askAtLimit" | "made">>,
    Partial<Pick<ExchangeTools, "onMessage" | "conceal">> {
  readonly session: Session;
  /** What the thread's model knows of files; without it, nothing. */
  readonly known?: KnownFiles;
  /** As `permit`, for calls that change several files. */
  readonly permitFiles: PermitFiles;
  /** The tool that begins sub-agents, or null. */
  readonly delegate: StructuredToolInterface | null;
  readonly protectedPaths: readonly string[];
  /** As of `sessionTools`. */
  readonly configured?: Parameters<typeof sessionTools>[0]["configured"];
  /** As of `sessionTools`. */
  readonly gitUser?: GitUser;
  /** As of `sessionTools`. */
  readonly onDenied?: (() => void) | undefined;
  /** Without it no plan can be handed in. */
  readonly checkPlan?: CheckPlan | undefined;
  /** Facts about the tools. */
  readonly tools: ToolSet;
  /** Further tools. */
  readonly programTools?: readonly StructuredToolInterface[] | undefined;
  /** What only makes permissions stricter, the persona's tools among it. */
  readonly restricting: readonly Layer[];
  /** False if no question may be asked. */
  readonly asks: boolean;
  /** As of `sessionTools`. */
  readonly commands?: Parameters<typeof sessionTools>[0]["commands"];
  /** Keeps the model's calls within its context; without it the model is sent every message. */
  readonly compaction?: Compaction;
}

/** Builds the agent of one exchange. Costs under a millisecond, so nothing is kept between two. */
export function buildAgent(options: AgentOfExchange) {
  return agentGraph(builtInWorker(options), {
    ...options,
    declared: options.tools,
    onMessage: options.onMessage ?? (() => {}),
  });
}

/** The worker of the built-in agent: a model, with the tools that its session and persona offer. */
function builtInWorker(options: AgentOfExchange): Worker {
  const { compaction, known } = options;
  const prompt = systemPrompt(options);
  return modelWorker({
    ...options,
    tools: offeredTools(options),
    declared: options.tools,
    systemPrompt: prompt,
    callModel: options.callModel ?? (({ id = newId(), ask }) => ask(id)),
    shown: (messages) => {
      known?.modelSees(messages);
      return compaction?.shown(messages, prompt) ?? messages;
    },
  });
}

function offeredTools(options: AgentOfExchange): readonly StructuredToolInterface[] {
  const { folder, protectedPaths, configured, delegate, programTools = [] } = options;
  const { permit, permitFiles, keep, known, commands } = options;
  return [
    ...sessionTools({
      repoPath: folder,
      root: options.root,
      protectedPaths,
      configured,
      ...(options.gitUser === undefined ? {} : { gitUser: options.gitUser }),
      permit,
      permitFiles,
      keep,
      known,
      onDenied: options.onDenied,
      commands,
    }),
    ...(delegate === null ? [] : [delegate]),
    ...(options.asking !== undefined && options.asks ? [askUserTool()] : []),
    ...planTools(options),
    ...programTools,
  ].filter(({ name }) => isOfferedIn(options, name));
}

/** The tool that takes plans, if there is a folder for them. */
function planTools(options: AgentOfExchange): StructuredToolInterface[] {
  const { session, folder, root, readOnly, checkPlan } = options;
  return session.plan_mode && !readOnly && folder !== null && checkPlan !== undefined
    ? [handInPlanTool({ repoPath: folder, root, checkPlan })]
    : [];
}

/** Nothing that changes anything is shown to a model in plan mode. */
function isOfferedIn({ session, restricting, tools }: AgentOfExchange, name: string): boolean {
  const mode = session.plan_mode ? "plan" : "ask";
  return isOffered(tools.get(name), { mode, restricting });
}

/** An agent and the config that names the thread that it is to work in. */
export interface AgentThread {
  readonly agent: ReturnType<typeof buildAgent>;
  readonly config: { readonly configurable: { readonly thread_id: string } };
}

const READ_ONLY = "Files of this folder direct other programs: they can be read, but not written.";
const HANDS_IN = ` If a plan is to be kept, hand in a phase plan with ${HAND_IN_PLAN.name}.`;
const NO_QUESTIONS =
  "Nobody can be asked in this exchange: a call that would need the user's permission is denied.";

function systemPrompt(options: AgentOfExchange): string {
  const { session, persona, folder, readOnly, instructions, asks } = options;
  const parts = [persona.prompt];
  if (folder !== null) {
    parts.push(
      "You work in the folder of this session. File paths are relative to its top, without a leading slash; nothing outside it can be reached.",
    );
  }
  if (readOnly) {
    parts.push(READ_ONLY);
  }
  if (!asks) {
    parts.push(NO_QUESTIONS);
  }
  if (session.plan_mode) {
    parts.push(
      `Planning mode is on: read, ask and plan, but change nothing. Say what you would do and in which order.${planTools(options).some(({ name }) => isOfferedIn(options, name)) ? HANDS_IN : ""}`,
    );
  }
  if (instructions !== null) {
    parts.push(`The repository's own instructions (AGENTS.md):\n\n${instructions}`);
  }
  return parts.join("\n\n");
}

import type { StructuredToolInterface } from "@langchain/core/tools";

import type { Session } from "../core/sessions.ts";
import type { ToolSet } from "../core/tools.ts";
import { newId } from "../core/ids.ts";
import { agentGraph, type Worker } from "./agent-graph.ts";
import { modelWorker, type WorkingModel } from "./model-worker.ts";
import { CallMeter } from "./models/call-meter.ts";
import type { ExchangeTools } from "./tools-node.ts";
import type { Prepared } from "./exchange-context.ts";
import { HAND_IN_PLAN, READ_FILE, RUN_COMMAND } from "../rules/tools/built-in.ts";
import type { GitUser } from "../workspace/places/ask-git.ts";
import { isOffered } from "../rules/permissions/decide.ts";
import { offerOf } from "../rules/skills/offer.ts";
import type { Layer } from "../rules/permissions/layers.ts";
import type { PermitFiles } from "./permit/permit-files.ts";
import type { KnownFiles } from "./known-files.ts";
import type { FactName, Facts, PossibleFacts } from "./prefix/facts.ts";
import { prefixTokens, ThreadPrefix } from "./prefix/prefix.ts";
import { askUserTool } from "./tools/ask-user.ts";
import { type CheckPlan, handInPlanTool } from "./tools/hand-in-plan.ts";
import type { Compaction } from "./compaction/compaction.ts";
import type { ModelLine } from "./model-line.ts";
import { sessionTools } from "./tools/session-tools.ts";
import { updateTasksTool } from "./tools/update-tasks.ts";

export interface AgentOfExchange
  extends
    Pick<
      Prepared,
      | "persona"
      | "folder"
      | "root"
      | "readOnly"
      | "mayRun"
      | "instructions"
      | "skills"
      | "cacheLife"
    >,
    Pick<ExchangeTools, "saver" | "asking" | "permit">,
    Pick<Parameters<typeof sessionTools>[0], "keep">,
    Partial<
      Pick<
        WorkingModel,
        "prefix" | "callModel" | "askAtLimit" | "sent" | "onDropped" | "isShown" | "serverTools"
      >
    >,
    Partial<Pick<ExchangeTools, "onMessage" | "conceal" | "hooks" | "begunBefore">> {
  readonly session: Session;
  readonly models: ModelLine;
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
  /** Takes the artifact of a phase, in place of plans; null or missing for a session that has to hand in none. */
  readonly handIn?: StructuredToolInterface | null;
  /** Called with the path of each plan that is stored. */
  readonly onPlan?: ((path: string) => void) | undefined;
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
  return modelWorker({
    ...options,
    tools: declaredTools(options),
    declared: options.tools,
    prefix: options.prefix ?? threadPrefix(options, null),
    callModel: options.callModel ?? (({ id = newId(), ask }) => ask(id, new CallMeter())),
    sent: options.sent ?? new WeakMap(),
    shown: (messages, view, prefix) => {
      known?.modelSees(messages);
      return (
        compaction?.shown(messages, view, () => prefixTokens(prefix)) ?? { summary: [], messages }
      );
    },
  });
}

/** Makes the prefix of the thread of an exchange. */
export function threadPrefix(options: AgentOfExchange, mark: string | null): ThreadPrefix {
  return new ThreadPrefix({
    facts: (declared) => factsOf(options, declared),
    possible: (declared) => possibleFacts(options, declared),
    tools: () => declaredTools(options),
    hasFiles: options.folder !== null,
    mark,
  });
}

/**
 * Returns the tools that the persona allows, whatever the mode: what may not run now is refused, so that the tools
 * of a thread need not change.
 */
function declaredTools(options: AgentOfExchange): readonly StructuredToolInterface[] {
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
      skills: options.skills,
    }),
    ...(delegate === null ? [] : [delegate]),
    ...(options.asking === undefined ? [] : [askUserTool({ asks: options.asks })]),
    updateTasksTool(),
    ...handInTools(options),
    ...programTools,
  ].filter(({ name }) => !isDenied(options, name));
}

/** The tool that takes the artifact of a phase, else plans, if there is a folder for them. */
function handInTools(options: AgentOfExchange): StructuredToolInterface[] {
  const { session, folder, root, readOnly, checkPlan, onPlan, handIn = null } = options;
  if (handIn !== null) {
    return [handIn];
  }
  return folder !== null && checkPlan !== undefined
    ? [
        handInPlanTool({
          repoPath: folder,
          root,
          checkPlan,
          onPlan,
          isPlanning: session.plan_mode && !readOnly,
        }),
      ]
    : [];
}

/** True for a tool that the persona, the parent session or the repository denies. */
export function isDenied(
  { restricting, tools }: Pick<AgentOfExchange, "restricting" | "tools">,
  name: string,
): boolean {
  return !isOffered(tools.get(name), { mode: "ask", restricting });
}

/** An agent and the config that names the thread that it is to work in. */
export interface AgentThread {
  readonly agent: ReturnType<typeof buildAgent>;
  readonly config: { readonly configurable: { readonly thread_id: string } };
}

const FOLDER =
  "You work in the folder of this session. File paths are relative to its top, without a leading slash; nothing outside it can be reached.";
const READ_ONLY = "Files of this folder direct other programs: they can be read, but not written.";
const NO_COMMANDS =
  "Commands may not be run in this folder, and nothing can be committed there: run_command and git_commit are refused.";
const NO_QUESTIONS =
  "Nobody can be asked now: ask_user is refused, and a call that would need the user's permission is denied.";
const PLANNING =
  "Planning mode is on: read, ask and plan, but change nothing; what would change something is refused. Say what you would do and in which order.";
const HANDS_IN = ` If a plan is to be kept, hand in a phase plan with ${HAND_IN_PLAN.name}.`;

/** Returns what the model of the exchange, which has these tools, is given to know. */
function factsOf(options: AgentOfExchange, declared: readonly string[]): Facts {
  const { session, readOnly, mayRun, instructions, asks } = options;
  const denied = declared.filter((name) => isDenied(options, name));
  const handsIn = declared.includes(HAND_IN_PLAN.name) && !readOnly ? HANDS_IN : "";
  const facts: Record<FactName, string | false> = {
    persona: personaText(options),
    read_only: readOnly && READ_ONLY,
    commands: declared.includes(RUN_COMMAND.name) && !mayRun && NO_COMMANDS,
    questions: !asks && NO_QUESTIONS,
    planning: session.plan_mode && `${PLANNING}${handsIn}`,
    denied_tools: denied.length > 0 && `These tools are denied now: ${denied.join(", ")}.`,
    instructions: instructions !== null && instructionsText(instructions),
    skills: declared.includes(READ_FILE.name) && (offerOf(options.skills) ?? false),
  };
  return Object.fromEntries(
    Object.entries(facts).filter(([, text]) => text !== false && text !== ""),
  );
}

/** Returns what the model may have been given to know before, in another mode of the session and its folder. */
function possibleFacts(options: AgentOfExchange, declared: readonly string[]): PossibleFacts {
  const { denied_tools } = factsOf(options, declared);
  return {
    persona: [personaText(options)],
    read_only: [READ_ONLY],
    commands: [NO_COMMANDS],
    questions: [NO_QUESTIONS],
    planning: [PLANNING, `${PLANNING}${HANDS_IN}`],
    denied_tools: denied_tools === undefined ? [] : [denied_tools],
    instructions: options.instructions === null ? [] : [instructionsText(options.instructions)],
    skills: [offerOf(options.skills) ?? []].flat(),
  };
}

function personaText({ persona, folder }: AgentOfExchange): string {
  return [persona.prompt, ...(folder === null ? [] : [FOLDER])].join("\n\n");
}

function instructionsText(instructions: string): string {
  return `The repository's own instructions (AGENTS.md):\n\n${instructions}`;
}

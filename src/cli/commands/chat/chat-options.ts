import type { WhenLimited } from "../../../core/model-settings.ts";
import type { WhenBusy } from "../../../exchange/lease-holder.ts";
import type { SettingOptions } from "../../process/model-settings.ts";
import { parseModelName } from "../../../rules/models/name.ts";
import type { ChosenBy } from "../../../store/records/sessions/choose.ts";
import type { CliContext } from "../../process/context.ts";
import type { DefaultAnswer } from "../../../core/questions.ts";
import type { ScopedLimits } from "../../../core/cost/limits.ts";
import type { PermissionMode } from "../../../core/permissions.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

/** The options of a conversation, as commander reads them. */
export interface ChatOptions extends SettingOptions {
  readonly session?: string;
  readonly continue?: true;
  readonly whenLimited?: WhenLimited;
  readonly any?: true;
  readonly persona?: string;
  readonly model?: string;
  readonly switch?: string;
  readonly repo?: string;
  readonly agent?: string;
  readonly trust?: true;
  readonly plan?: true;
  readonly permission?: PermissionMode;
  readonly allow?: readonly string[];
  /** False with --no-questions. */
  readonly questions?: boolean;
  readonly tokenLimit?: ScopedLimits;
  /** In micro-dollars. */
  readonly priceLimit?: ScopedLimits;
  readonly answerAfter?: DefaultAnswer;
  readonly prompt?: string;
  readonly continueExchange?: true;
  readonly acceptPending?: true;
  /** Lines in place of the screen. */
  readonly plain?: true;
  readonly wait?: true;
  readonly takeOver?: true;
  readonly json?: true;
  readonly "json=events"?: true;
}

/** A separate option, because `--json` takes no value: the word after it may be an argument. */
export const EVENTS_OPTION = "--json=events";

export const AGENT_HELP = "talk to your own LangGraph agent: ./agent.js or ./langgraph.json";

/** Error codes: `invalid_usage`, `model_unknown`. */
export function refuseBadOptions(options: ChatOptions): void {
  for (const name of [
    "session",
    "persona",
    "model",
    "switch",
    "repo",
    "agent",
    "prompt",
  ] as const) {
    if (options[name]?.trim() === "") {
      throw wrongUsage(`--${name} needs a value.`);
    }
  }
  const { session, prompt, continueExchange } = options;
  const goesOn = options.continue === true;
  const resumes = continueExchange === true;
  refuseIf(goesOn && session !== undefined, "Use either --session or --continue, not both.");
  refuseIf(options.any === true && !goesOn, "--any needs --continue.");
  refuseIf(
    options.wait === true && options.takeOver === true,
    "Use either --wait or --take-over, not both.",
  );
  refuseIf(
    resumes && !goesOn && session === undefined,
    "--continue-exchange needs a session; name it with --session or --continue.",
  );
  refuseIf(
    resumes && prompt !== undefined,
    "Use -p (a new message) or --continue-exchange (resume the interrupted exchange), not both.",
  );
  refuseIf(
    options.switch !== undefined && !goesOn && session === undefined,
    "--switch needs a session; name it with --session or --continue.",
  );
  refuseIf(
    options.switch !== undefined && (options.model !== undefined || options.persona !== undefined),
    "Use either --switch, which keeps the conversation, or --model and --persona, which begin a fresh context.",
  );
  refuseIf(
    options.whenLimited !== undefined && !runsOnce(options),
    "--when-limited needs -p or --continue-exchange. In a session, write /continue when-reset.",
  );
  refuseIf(
    options.agent !== undefined &&
      [options.persona, options.model, options.switch, options.plan].some(
        (value) => value !== undefined,
      ),
    "An agent of --agent has its own model and instructions. Leave --persona, --model, --switch and --plan out.",
  );
  refuseIf(
    options.agent !== undefined &&
      (options.permission !== undefined ||
        options.allow !== undefined ||
        options.questions === false),
    "An agent of --agent has its own tools. Leave --permission, --allow and --no-questions out.",
  );
  refuseIf(
    options.plan === true && options.permission !== undefined && options.permission !== "plan",
    "Use either --plan or --permission, not both.",
  );
  refuseIf(
    options.agent !== undefined &&
      [options.effort, options.cache, options.fallback].some((value) => value !== undefined),
    "An agent of --agent has its own model. Leave --effort, --cache and --fallback out.",
  );
  for (const name of [options.model, options.switch]) {
    if (name !== undefined) {
      parseModelName(name);
    }
  }
}

/** Whether the run is one exchange, which does not ask. */
export function runsOnce(options: ChatOptions): boolean {
  return options.prompt !== undefined || options.continueExchange === true;
}

/** Whether a person talks at a terminal; everything else counts like `-p`. */
export function chosenBy(cli: CliContext, options: ChatOptions): ChosenBy {
  return !runsOnce(options) && cli.stdin.isTTY === true ? "terminal" : "prompt";
}

/** Decides what to do if another exchange is running in the session. */
export function whenBusy(options: ChatOptions): WhenBusy {
  if (options.wait === true) {
    return "wait";
  }
  return options.takeOver === true ? "take_over" : "refuse";
}

function refuseIf(wrong: boolean, sentence: string): void {
  if (wrong) {
    throw wrongUsage(sentence);
  }
}

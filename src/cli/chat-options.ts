import type { WhenBusy } from "../exchange/lease-holder.ts";
import { parseModelName } from "../exchange/models/name.ts";
import { RepriseError } from "../core/errors.ts";
import type { ChosenBy } from "../store/sessions/choose.ts";
import type { CliContext } from "./context.ts";

/** The options of a conversation, as commander reads them. */
export interface ChatOptions {
  readonly session?: string;
  readonly continue?: true;
  readonly any?: true;
  readonly persona?: string;
  readonly model?: string;
  readonly repo?: string;
  readonly trust?: true;
  readonly plan?: true;
  readonly prompt?: string;
  readonly continueExchange?: true;
  readonly acceptPending?: true;
  readonly wait?: true;
  readonly takeOver?: true;
  readonly json?: true;
  readonly "json=events"?: true;
}

/**
 * An option of its own, because `--json` takes no value: what follows it may be an argument. Commander
 * takes the name as it is.
 */
export const EVENTS_OPTION = "--json=events";

/** Error codes: `invalid_usage`, `model_unknown`. */
export function refuseBadOptions(options: ChatOptions): void {
  for (const name of ["session", "persona", "model", "repo", "prompt"] as const) {
    if (options[name]?.trim() === "") {
      throw new RepriseError("invalid_usage", `--${name} needs a value.`);
    }
  }
  if (options.continue === true && options.session !== undefined) {
    throw new RepriseError("invalid_usage", "Use either --session or --continue, not both.");
  }
  if (options.any === true && options.continue !== true) {
    throw new RepriseError("invalid_usage", "--any goes with --continue.");
  }
  if (options.wait === true && options.takeOver === true) {
    throw new RepriseError("invalid_usage", "Use either --wait or --take-over, not both.");
  }
  if (options.continueExchange === true) {
    refuseBadContinue(options);
  }
  if (options.model !== undefined) {
    parseModelName(options.model);
  }
}

/** Whether a person talks at a terminal; everything else counts like `-p`. */
export function chosenBy(cli: CliContext, options: ChatOptions): ChosenBy {
  const once = options.prompt !== undefined || options.continueExchange === true;
  return !once && cli.stdin.isTTY === true ? "terminal" : "prompt";
}

/** What to do if another exchange is running in the session. */
export function whenBusy(options: ChatOptions): WhenBusy {
  if (options.wait === true) {
    return "wait";
  }
  return options.takeOver === true ? "take_over" : "refuse";
}

function refuseBadContinue(options: ChatOptions): void {
  if (options.session === undefined && options.continue !== true) {
    throw new RepriseError(
      "invalid_usage",
      "--continue-exchange needs a session; name it with --session or --continue.",
    );
  }
  if (options.prompt !== undefined) {
    throw new RepriseError(
      "invalid_usage",
      "Use -p (a new message) or --continue-exchange (resume the interrupted exchange), not both.",
    );
  }
}

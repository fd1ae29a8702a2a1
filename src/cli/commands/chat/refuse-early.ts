import { RepriseError } from "../../../core/errors.ts";
import type { Session } from "../../../core/sessions.ts";
import type { Confirmation } from "../../../exchange/confirmation.ts";
import { nothingToContinue } from "../../../exchange/nothing-to-continue.ts";
import { checkNewSession } from "../../../rules/personas/preflight.ts";
import { refuseBusy } from "../../../exchange/start-thread.ts";
import { readPending } from "../../../store/records/messages/read.ts";
import { readWaiting } from "../../../store/records/messages/waiting.ts";
import type { Store } from "../../../store/store.ts";
import { type ChatOptions, whenBusy } from "./chat-options.ts";
import { personaFolderPaths, settingsOf } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";

/** Request of a run, with whom to ask about it. */
export interface ChatRequest {
  readonly cli: CliContext;
  readonly store: Store;
  readonly options: ChatOptions;
  readonly confirmChoices: Confirmation["confirmChoices"];
}

/**
 * Refuses what the one exchange of this run would be refused for, before the session is changed
 * for it. `planned` is the session with the changes.
 *
 * Error codes: `session_busy`, `nothing_to_continue`, `persona_*`, `model_*`, `not_confirmed`.
 */
export async function refuseEarly(
  request: ChatRequest,
  planned: Session,
  {
    isFreshThread,
    isPriceLimited,
  }: { readonly isFreshThread: boolean; readonly isPriceLimited: boolean },
): Promise<void> {
  const { cli, store, options } = request;
  const { id, repo_path, activity } = planned;
  if (activity === "running" && whenBusy(options) === "refuse") {
    await refuseBusy(store, id);
  }
  const mayContinue = !isFreshThread && activity !== "idle";
  if (options.continueExchange === true && !mayContinue && !(await isMessageWaiting(request, id))) {
    throw isFreshThread && activity === "interrupted"
      ? startsFresh()
      : await nothingToContinue(store, id);
  }
  if (options.agent !== undefined) {
    return;
  }
  await checkNewSession(
    { settings: await settingsOf(cli).at(repo_path), personas: personaFolderPaths(cli) },
    { ...planned, isPriceLimited },
  );
  await request.confirmChoices(planned);
}

/** Whether the exchange hands a message over, which may be one that it accepts. */
async function isMessageWaiting(
  { store, options }: ChatRequest,
  session_id: string,
): Promise<boolean> {
  const { unaccepted } = await store.read(readWaiting, { session_id });
  return (
    (options.acceptPending === true && unaccepted.count > 0) ||
    (await store.read(readPending, { session_id })).length > 0
  );
}

function startsFresh(): RepriseError {
  return new RepriseError(
    "nothing_to_continue",
    "Another model or persona begins a fresh agent context, which cannot continue the interrupted exchange. Leave --model and --persona out to resume it, or send a message with -p.",
  );
}

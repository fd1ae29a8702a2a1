import { parseModelName } from "../agent/models/name.ts";
import { RepriseError } from "../core/errors.ts";
import type { Session } from "../core/sessions.ts";
import { setPlanMode } from "../store/sessions/plan-mode.ts";
import type { Store } from "../store/store.ts";
import type { ChatOptions } from "./chat-options.ts";
import { checkModel, checkPersona } from "./check-choice.ts";
import type { ChosenSession } from "./choose-session.ts";
import type { CliContext } from "./context.ts";
import { beginThread } from "./fresh-thread.ts";
import { projectOf } from "./new-session.ts";

interface ChangeInput {
  readonly cli: CliContext;
  readonly store: Store;
  readonly session: Session;
  readonly options: ChatOptions;
}

/**
 * Options on a session that is there: `--model` and `--persona` act like the slash commands where
 * they name another one, `--plan` turns planning mode on, `--repo` must be the session's own.
 *
 * Error codes: `invalid_usage`, `session_busy`, `session_ended`, `model_*`, `persona_*`.
 */
export async function changeChosen(input: ChangeInput): Promise<ChosenSession> {
  const { cli, store, options } = input;
  let { session } = input;
  await refuseOtherRepo(input);
  const change = await otherChoice(cli, session, options);
  if (options.plan === true && !session.plan_mode) {
    session = await store.write(setPlanMode, { id: session.id, plan_mode: true });
  }
  if (change === null) {
    return { kind: "existing", session, notices: [] };
  }
  return {
    kind: "existing",
    session: await beginThread(store, { id: session.id, archive: false, ...change }),
    notices: ["Another model or persona begins a fresh agent context; the messages stay."],
  };
}

async function refuseOtherRepo({ cli, session, options }: ChangeInput): Promise<void> {
  if (options.repo === undefined) {
    return;
  }
  const { project_key } = await projectOf(cli, options);
  if (project_key !== session.project_key) {
    throw new RepriseError(
      "invalid_usage",
      "A session keeps the folder that it began with; leave --repo out, or begin a new session there.",
    );
  }
}

async function otherChoice(
  cli: CliContext,
  session: Session,
  options: ChatOptions,
): Promise<{ model?: string; persona_name?: string } | null> {
  const change: { model?: string; persona_name?: string } = {};
  if (options.model !== undefined && !isSameModel(options.model, session.model)) {
    await checkModel(cli, options.model);
    change.model = options.model;
  }
  if (options.persona !== undefined && options.persona !== session.persona_name) {
    await checkPersona(cli, { name: options.persona, repo_path: session.repo_path });
    change.persona_name = options.persona;
  }
  return Object.keys(change).length === 0 ? null : change;
}

/** `demo` and `demo:echo` are one model. What the API stored may be no model's name at all. */
function isSameModel(option: string, stored: string | null): boolean {
  if (stored === null || option === stored) {
    return option === stored;
  }
  const named = parseModelName(option);
  return (
    `${named.provider}:${named.model}` === stored || (option === "demo:echo" && stored === "demo")
  );
}

import type { ConversationStart } from "../exchange/conversation.ts";
import { parseModelName } from "../exchange/models/name.ts";
import type { Session } from "../core/sessions.ts";
import { otherFolder, setPlanMode, takeFolder } from "../store/sessions/change.ts";
import type { Store } from "../store/store.ts";
import type { ChatOptions } from "./chat-options.ts";
import { defaultModel, modelConfig } from "../exchange/models/config.ts";
import { modelSettings } from "../exchange/models/settings.ts";
import { DEFAULT_PERSONA } from "../exchange/personas/persona.ts";
import { projectKeyOf } from "../store/project-key.ts";
import type { ChoiceField } from "../store/sessions/waiting.ts";
import { checkPersona } from "../exchange/preflight.ts";
import { personaFolderPaths } from "./config.ts";
import type { CliContext } from "./context.ts";
import { beginThread } from "../exchange/start-thread.ts";
import { callerOf, projectOf } from "./new-session.ts";

/** The session that was chosen, and the notices to show about it. */
export type SelectedSession = ConversationStart & { readonly notices: readonly string[] };

interface ChangeInput {
  readonly cli: CliContext;
  readonly store: Store;
  readonly session: Session;
  readonly options: ChatOptions;
}

/**
 * Options on a session that is there: `--model` and `--persona` act like the slash commands if
 * they name another one, `--plan` turns planning mode on, `--repo` must be the session's
 * own; a session without a folder takes it.
 *
 * Error codes: `invalid_usage`, `session_busy`, `session_ended`, `model_*`, `persona_*`.
 */
export async function applySessionOptions(input: ChangeInput): Promise<SelectedSession> {
  const { cli, store, options } = input;
  let session = await inFolder(input);
  const change = await otherChoice(cli, session, options);
  if (options.plan === true && !session.plan_mode) {
    session = await store.write(setPlanMode, { id: session.id, plan_mode: true });
  }
  if (change === null) {
    return { kind: "existing", session, notices: [] };
  }
  return {
    kind: "existing",
    session: await beginThread(store, {
      id: session.id,
      archive: false,
      ...change,
      caller: callerOf(cli, options),
    }),
    notices: ["Another model or persona begins a fresh agent context; the messages stay."],
  };
}

/** The session in the folder of `--repo`. Nothing is stored for a model or persona that is refused. */
async function inFolder({ cli, store, session, options }: ChangeInput): Promise<Session> {
  if (options.repo === undefined) {
    return session;
  }
  const project = await projectOf(cli, options);
  if (session.repo_path === null) {
    await otherChoice(cli, { ...session, repo_path: project.repo_path }, options);
    const caller = callerOf(cli, options);
    return store.write(takeFolder, { id: session.id, ...project, caller });
  }
  if (project.project_key !== session.project_key) {
    throw otherFolder();
  }
  return session;
}

async function otherChoice(
  cli: CliContext,
  session: Session,
  options: ChatOptions,
): Promise<{ model?: string; persona_name?: string } | null> {
  const change: { model?: string; persona_name?: string } = {};
  if (options.model !== undefined && !isSameModel(options.model, session.model)) {
    modelSettings({ name: options.model, config: modelConfig(cli.env) });
    change.model = options.model;
  }
  if (options.persona !== undefined && options.persona !== session.persona_name) {
    await checkPersona(personaFolderPaths(cli), {
      name: options.persona,
      repo_path: session.repo_path,
    });
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

/**
 * Whether the session's model, persona or folder is what the user would get in a new session here:
 * then it does not matter who set it.
 */
export async function isOwnChoice(input: {
  readonly cli: CliContext;
  readonly options: ChatOptions;
  readonly session: Session;
  readonly field: ChoiceField;
}): Promise<boolean> {
  const { cli, options, session, field } = input;
  switch (field) {
    case "model":
      return isSameModel(options.model ?? defaultModel(modelConfig(cli.env)), session.model);
    case "persona_name":
      return (options.persona ?? DEFAULT_PERSONA) === session.persona_name;
    case "repo_path": {
      const { project_key } = await projectOf(cli, options);
      // resolved now: what the path leads to may have changed since the session began
      return session.repo_path !== null && project_key === (await projectKeyOf(session.repo_path));
    }
  }
}

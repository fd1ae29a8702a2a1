import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import { runTakesNoMessage } from "../../../store/records/plans/takes-no-message.ts";
import { isRepriseError, RepriseError } from "../../../core/errors.ts";
import { isRfc9562Uuid, parseSessionReference } from "../../../core/ids.ts";
import type { Session } from "../../../core/sessions.ts";
import { threadId } from "../../../core/threads.ts";
import type { ConversationStart } from "../../../exchange/conversation.ts";
import { defaultModel } from "../../../rules/models/config.ts";
import { hasNotBegun } from "../../../exchange/nothing-to-continue.ts";
import { chosenModel } from "../../../rules/models/choose.ts";
import { CACHE_RESTARTS, restartsCache } from "../../../core/model-settings.ts";
import { checkEffort } from "../../../rules/models/effort.ts";
import { modelFacts } from "../../../rules/models/facts.ts";
import { parseModelName } from "../../../rules/models/name.ts";
import type { FolderSettings } from "../../../rules/config/settings.ts";
import { modelSettings } from "../../../rules/models/settings.ts";
import { DEFAULT_PERSONA } from "../../../rules/personas/persona.ts";
import {
  answeringIn,
  checkNewSession,
  checkPersona,
  createPriceCheck,
} from "../../../rules/personas/preflight.ts";
import { refuseOtherAgent } from "../../../exchange/other-agent.ts";
import { beginThread, continueWith } from "../../../exchange/start-thread.ts";
import { projectIdOf } from "../../../store/project-id.ts";
import { projectKeyOf } from "../../../store/project-key.ts";
import {
  otherFolder,
  refuseEnded,
  setPlanMode,
  takeFolder,
} from "../../../store/records/sessions/change.ts";
import { readLeaseState } from "../../../store/records/leases/lease.ts";
import { isChosen, markChosen, readLatestChosen } from "../../../store/records/sessions/choose.ts";
import { createSession } from "../../../store/records/sessions/create.ts";
import { setPermissionMode } from "../../../store/records/sessions/permissions.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import { setModelSettings } from "../../../store/records/sessions/model-settings.ts";
import { setLimits } from "../../../store/records/sessions/limits.ts";
import type { ChoiceField } from "../../../store/records/messages/waiting.ts";
import type { Store } from "../../../store/store.ts";
import { type ChatOptions, chosenBy, runsOnce } from "./chat-options.ts";
import { personaFolderPaths, settingsOf } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import { givenSettings } from "../../process/model-settings.ts";
import { folderOf, principalOf, newSession, projectOf } from "./new-session.ts";
import { type ChatRequest, refuseEarly } from "./refuse-early.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { withTilde } from "../../output/table.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

/** The session that was chosen, and the notices to show about it. */
export type SelectedSession = ConversationStart & {
  readonly notices: readonly string[];
  /** True if another model continues the conversation. */
  readonly isSwitched?: true;
};

interface Selection extends ChatRequest {
  /** The name of the agent of `--agent`; null for the built-in one. */
  readonly agent: string | null;
  /** Asked once the folder of the session is known, before any of its files is used; false leaves. */
  readonly enter: (repo_path: string | null) => Promise<boolean>;
}

/**
 * Finds the session that the options mean. A full id that no session has begins a session with that
 * id, at once; a prefix that matches nothing is an error and never begins one. Null if the person
 * who was asked about the folder leaves; nothing is changed then.
 *
 * Error codes: `session_not_found`, `ambiguous_id`, `session_ended`, `session_busy`,
 * `invalid_usage`, `model_*`, `persona_*`.
 */
export async function selectSession(selection: Selection): Promise<SelectedSession | null> {
  const { cli, store, options, enter } = selection;
  const session = await existingSession(selection);
  if (session === null) {
    if (options.switch !== undefined) {
      throw wrongUsage(
        "No session has this id, so there is no conversation that --switch could continue. Use --model.",
      );
    }
    const columns = await newSession(cli, options);
    if (!(await enter(columns.repo_path))) {
      return null;
    }
    return options.session === undefined
      ? { kind: "new", columns, notices: [] }
      : beginWithId(selection, options.session.toLowerCase(), columns);
  }
  // a session that has no folder takes that of --repo
  const takes = session.repo_path === null && options.repo !== undefined;
  if (!(await enter(takes ? await folderOf(cli, options) : session.repo_path))) {
    return null;
  }
  const chosen = await applySessionOptions(selection, session);
  const choice = { id: session.id, by: chosenBy(cli, options) };
  // asked first: most sessions are the user's own, and reading waits for no lock
  if (options.session !== undefined && !(await store.read(isChosen, choice))) {
    await store.write(markChosen, choice);
  }
  return chosen;
}

/** Null if the options begin a session. */
async function existingSession(selection: Selection): Promise<Session | null> {
  const { store, options } = selection;
  if (options.continue === true) {
    return latestOfProject(selection);
  }
  const session = options.session === undefined ? null : await findSession(store, options.session);
  if (session !== null) {
    refuseEnded(session);
    if (session.agent === PLAN_AGENT) {
      throw runTakesNoMessage();
    }
  }
  return session;
}

/** Null for a full id that no session has. */
export async function findSession(store: Store, text: string): Promise<Session | null> {
  try {
    return await store.read(resolveSession, { reference: text });
  } catch (error) {
    if (isRepriseError(error, "session_not_found") && parseSessionReference(text).kind === "id") {
      return null;
    }
    throw error;
  }
}

async function latestOfProject({ cli, store, options }: Selection): Promise<Session> {
  const folder = await folderOf(cli, options);
  const project_key = await projectKeyOf(folder);
  const by = options.any === true ? null : chosenBy(cli, options);
  const latest = await store.read(readLatestChosen, { project_key, by });
  if (latest !== null) {
    return latest;
  }
  const any = by === null ? null : await store.read(readLatestChosen, { project_key, by: null });
  const project_id = any === null ? await projectIdOf(folder) : null;
  if (project_id !== null) {
    const asked = { project_key, elsewhere: { project_id }, by };
    const other = await store.read(readLatestChosen, asked);
    if (other !== null) {
      throw continuedElsewhere(other, cli);
    }
  }
  throw new RepriseError(
    "session_not_found",
    any === null
      ? "This project has no active session to continue. Those of other folders: `reprise resume`. To start one, run `reprise`."
      : `No active session of this project was started or opened ${by === "terminal" ? "in a terminal" : "by a command line"}. To continue the latest other one, use --continue --any; to start one, run \`reprise\`.`,
  );
}

/** Another checkout may have other files, so nobody is taken there, nor a session from there, without being asked. */
function continuedElsewhere(
  { id, repo_path, name, title }: Session,
  { env }: CliContext,
): RepriseError {
  const folder = oneLine(withTilde(repo_path ?? "", env["HOME"]));
  return new RepriseError(
    "session_not_found",
    `This folder has no active session to continue. The latest of the same repository is "${oneLine(name ?? title ?? "(no message yet)")}" in ${folder}. To continue it there, use \`reprise --session ${id}\`; to bring it here, \`reprise sessions move ${id} --repo .\`.`,
  );
}

async function beginWithId(
  { cli, store, options, agent }: Selection,
  id: string,
  columns: Awaited<ReturnType<typeof newSession>>,
): Promise<SelectedSession> {
  if (!isRfc9562Uuid(id)) {
    throw wrongUsage(
      "No session has this id, and it cannot be the id of a new one, because it is not a UUID (RFC 9562). Make one with `uuidgen`, or leave --session out.",
    );
  }
  if (options.continueExchange === true) {
    throw hasNotBegun();
  }
  if (agent === null) {
    const settings = await settingsOf(cli).at(columns.repo_path);
    await checkNewSession({ settings, personas: personaFolderPaths(cli) }, answeringIn(columns));
  }
  return {
    kind: "existing",
    session: await store.write(createSession, { ...columns, id }),
    notices: ["No session has this id, so a new one begins with it."],
  };
}

/**
 * Options on a session that is there: `--model`, `--switch` and `--persona` act like the slash commands if
 * they name another one, and so does `--agent`; `--plan` turns planning mode on, `--permission` sets the mode, `--repo` must be the session's
 * own; a session without a folder takes it. Nothing is stored if one of them is refused, or the
 * one exchange of this run.
 *
 * Error codes: `invalid_usage`, `model_*`, `persona_*`, and those of `refuseEarly`.
 */
async function applySessionOptions(
  selection: Selection,
  existing: Session,
): Promise<SelectedSession> {
  const { cli, store, options, agent } = selection;
  const { id } = existing;
  const folder = await newFolder(cli, existing, options);
  const planned = { ...existing, ...folder };
  const change = await otherChoice(selection, planned);
  const switched = await otherModel(selection, planned, options.switch);
  const { permission } = options;
  const plans = options.plan === true && !existing.plan_mode;
  const { tokenLimit: tokens, priceLimit: prices } = options;
  if (folder !== null || change !== null || switched !== null || plans || prices !== undefined) {
    const isPriceLimited =
      prices !== undefined ||
      (await store.read(readLeaseState, { session_id: id })).is_price_limited;
    const then = {
      ...planned,
      ...change,
      ...(switched === null ? {} : { model: switched }),
      ...givenSettings(options),
    };
    if (runsOnce(options)) {
      await refuseEarly(selection, then, { isFreshThread: change !== null, isPriceLimited });
    } else if (isPriceLimited && agent === null) {
      await createPriceCheck({ settings: settingsOf(cli), personas: personaFolderPaths(cli) })(
        then,
      );
    }
  }
  const principal = principalOf(cli, options);
  let session = existing;
  // first: it is refused while an exchange runs
  if (change !== null) {
    session = await beginThread(store, { id, archive: false, ...change, principal });
  }
  if (switched !== null) {
    session = await continueWith(store, { id, model: switched, principal });
  }
  if (folder !== null) {
    session = await store.write(takeFolder, { id, ...folder, principal });
  }
  if (plans) {
    session = await store.write(setPlanMode, { id, plan_mode: true, principal });
  }
  if (permission !== undefined) {
    session = await store.write(setPermissionMode, { id, mode: permission, principal });
  }
  if (tokens !== undefined || prices !== undefined) {
    await store.write(setLimits, { id, tokens, prices });
  }
  session = await applyModelSettings(selection, session);
  // a fresh context and another model have nothing in a cache
  const keepsCache = change === null && switched === null;
  const restarts = keepsCache && restartsCache(existing, givenSettings(options));
  const notices = [
    ...(change === null
      ? []
      : [
          change.agent === undefined
            ? "Another model or persona begins a fresh agent context; the messages stay."
            : "Another agent begins a fresh agent context; the messages stay.",
        ]),
    ...(restarts ? [CACHE_RESTARTS] : []),
  ];
  return {
    kind: "existing",
    session,
    notices,
    ...(switched === null ? {} : { isSwitched: true }),
  };
}

/** Nothing is stored if the model does not take the effort. */
async function applyModelSettings(
  { cli, store, options }: Selection,
  session: Session,
): Promise<Session> {
  const settings = givenSettings(options);
  const { effort } = settings;
  if (Object.keys(settings).length === 0) {
    return session;
  }
  if (effort !== undefined) {
    const { models } = await settingsOf(cli).at(session.repo_path);
    const persona = await checkPersona(personaFolderPaths(cli), {
      name: session.persona_name ?? DEFAULT_PERSONA,
      repo_path: session.repo_path,
    });
    const name = chosenModel({ session: session.model, persona, config: models });
    checkEffort(effort, name, modelFacts(name, models));
  }
  return store.write(setModelSettings, { id: session.id, settings });
}

/** The folder of `--repo` for a session that has none; null if it keeps what it has. */
async function newFolder(cli: CliContext, session: Session, options: ChatOptions) {
  if (options.repo === undefined) {
    return null;
  }
  const project = await projectOf(cli, options);
  if (session.repo_path === null) {
    return project;
  }
  if (project.project_key !== session.project_key) {
    throw otherFolder();
  }
  return null;
}

interface Choice {
  model?: string;
  persona_name?: string;
  agent?: string | null;
}

async function otherChoice(
  { cli, store, options, agent }: Selection,
  session: Session,
): Promise<Choice | null> {
  const change: Choice = {};
  const model = await otherModel({ cli }, session, options.model);
  if (model !== null) {
    change.model = model;
  }
  if (options.persona !== undefined && options.persona !== session.persona_name) {
    await checkPersona(personaFolderPaths(cli), {
      name: options.persona,
      repo_path: session.repo_path,
    });
    change.persona_name = options.persona;
  }
  const chooses = agent !== null || options.model !== undefined || options.persona !== undefined;
  if (session.agent !== agent && (session.agent !== null || (await hasBegun(store, session)))) {
    if (!chooses) {
      refuseOtherAgent(session, { agent, hasBegun: true });
    }
    change.agent = agent;
  }
  return Object.keys(change).length === 0 ? null : change;
}

/** Null if none is named, or the session's own. Error codes: `model_*`. */
async function otherModel(
  { cli }: Pick<Selection, "cli">,
  session: Session,
  name: string | undefined,
): Promise<string | null> {
  if (name === undefined || isSameModel(name, session.model)) {
    return null;
  }
  const { models } = await settingsOf(cli).at(session.repo_path);
  modelSettings({ name, config: models });
  return name;
}

async function hasBegun(store: Store, { id, thread_suffix }: Session): Promise<boolean> {
  const { hasThread } = await import("../../../store/checkpoints/threads.ts");
  return store.read(hasThread, { thread_id: threadId(id, thread_suffix) });
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
export async function isOwnChoice(
  { cli, options }: Pick<Selection, "cli" | "options">,
  session: Session,
  field: ChoiceField,
): Promise<boolean> {
  const own = async <Name extends "models" | "persona">(
    name: Name,
  ): Promise<FolderSettings[Name]> => (await settingsOf(cli).at(session.repo_path))[name];
  switch (field) {
    case "model": {
      const named = options.switch ?? options.model;
      return isSameModel(named ?? defaultModel(await own("models")), session.model);
    }
    case "persona_name":
      return (
        (options.persona ?? (await own("persona")) ?? DEFAULT_PERSONA) === session.persona_name
      );
    case "repo_path": {
      const project_key = await projectKeyOf(await folderOf(cli, options));
      // resolved now: what the path leads to may have changed since the session began
      return session.repo_path !== null && project_key === (await projectKeyOf(session.repo_path));
    }
  }
}

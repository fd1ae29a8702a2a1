import { isRepriseError, RepriseError } from "../core/errors.ts";
import { isRfc9562Uuid, parseSessionReference } from "../core/ids.ts";
import type { Session } from "../core/sessions.ts";
import { refuseEnded } from "../store/sessions/change.ts";
import { createSession, type NewSession } from "../store/sessions/create.ts";
import { type Choice, isChosen, markChosen, readLatestChosen } from "../store/sessions/choose.ts";
import { resolveSession } from "../store/sessions/read.ts";
import type { Store } from "../store/store.ts";
import { checkPersona } from "../exchange/preflight.ts";
import { personaFolderPaths } from "./config.ts";
import { applySessionOptions, type SelectedSession } from "./session-options.ts";
import { type ChatOptions, chosenBy } from "./chat-options.ts";
import type { CliContext } from "./context.ts";
import { newSession, projectOf } from "./new-session.ts";
import { wrongUsage } from "./wrong-usage.ts";

/** Asked once the folder of the session is known, before any of its files is used; false leaves. */
export type EnterFolder = (repo_path: string | null) => Promise<boolean>;

/**
 * Finds the session that the options mean. A full id that no session has begins a session with that
 * id, at once; a prefix that matches nothing is an error and never begins one. Null if the person
 * who was asked about the folder leaves; nothing is changed then.
 *
 * Error codes: `session_not_found`, `ambiguous_id`, `session_ended`, `session_busy`,
 * `invalid_usage`, `model_*`, `persona_*`.
 */
export async function selectSession(
  cli: CliContext,
  store: Store,
  options: ChatOptions,
  enter: EnterFolder,
): Promise<SelectedSession | null> {
  const session = await existingSession(cli, store, options);
  if (session !== null) {
    if (!(await enter(await folderOf(cli, session, options)))) {
      return null;
    }
    const chosen = await applySessionOptions({ cli, store, session, options });
    if (options.session !== undefined) {
      await keepChoice(store, { id: session.id, by: chosenBy(cli, options) });
    }
    return chosen;
  }
  const columns = await newSession(cli, options);
  if (!(await enter(columns.repo_path))) {
    return null;
  }
  return options.session === undefined
    ? { kind: "new", columns, notices: [] }
    : beginWithId({ cli, store, id: options.session.toLowerCase(), columns });
}

/** The folder that the session will work in: one that has none takes that of `--repo`. */
async function folderOf(
  cli: CliContext,
  session: Session,
  options: ChatOptions,
): Promise<string | null> {
  return session.repo_path === null && options.repo !== undefined
    ? (await projectOf(cli, options)).repo_path
    : session.repo_path;
}

/** Null if the options begin a session. */
async function existingSession(
  cli: CliContext,
  store: Store,
  options: ChatOptions,
): Promise<Session | null> {
  if (options.continue === true) {
    return latestOfProject(cli, store, options);
  }
  const session = options.session === undefined ? null : await findSession(store, options.session);
  if (session !== null) {
    refuseEnded(session);
  }
  return session;
}

/** Opening a session by its id, or from a list, is a choice that `--continue` follows later. */
async function keepChoice(store: Store, choice: Choice): Promise<void> {
  // asked first: most sessions are the user's own, and reading waits for nobody
  if (!(await store.read(isChosen, choice))) {
    await store.write(markChosen, choice);
  }
}

/** Null for a full id that no session has. */
async function findSession(store: Store, text: string): Promise<Session | null> {
  try {
    return await store.read(resolveSession, { reference: text });
  } catch (error) {
    if (isRepriseError(error, "session_not_found") && parseSessionReference(text).kind === "id") {
      return null;
    }
    throw error;
  }
}

async function beginWithId(input: {
  cli: CliContext;
  store: Store;
  id: string;
  columns: NewSession & { readonly persona_name: string; readonly repo_path: string };
}): Promise<SelectedSession> {
  const { cli, store, id, columns } = input;
  if (!isRfc9562Uuid(id)) {
    throw wrongUsage(
      "No session has this id, and it cannot be the id of a new one, because it is not a UUID (RFC 9562). Make one with `uuidgen`, or leave --session out.",
    );
  }
  await checkPersona(personaFolderPaths(cli), {
    name: columns.persona_name,
    repo_path: columns.repo_path,
  });
  return {
    kind: "existing",
    session: await store.write(createSession, { ...columns, id }),
    notices: ["No session has this id, so a new one begins with it."],
  };
}

async function latestOfProject(
  cli: CliContext,
  store: Store,
  options: ChatOptions,
): Promise<Session> {
  const { project_key } = await projectOf(cli, options);
  const by = options.any === true ? null : chosenBy(cli, options);
  const latest = await store.read(readLatestChosen, { project_key, by });
  if (latest !== null) {
    return latest;
  }
  const ofAnybody =
    by === null ? null : await store.read(readLatestChosen, { project_key, by: null });
  throw new RepriseError(
    "session_not_found",
    ofAnybody === null
      ? "This project has no active session to continue. Begin one with `reprise`."
      : "You began and opened no active session of this project. Continue the latest that others began with --continue --any, or begin one with `reprise`.",
  );
}

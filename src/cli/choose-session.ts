import { resolve } from "node:path";

import { parseModelName } from "../agent/models/name.ts";
import { isRepriseError, RepriseError } from "../core/errors.ts";
import { parseSessionReference } from "../core/ids.ts";
import type { Session } from "../core/sessions.ts";
import { projectKeyOf } from "../store/project-key.ts";
import { refuseEnded, startThread } from "../store/sessions/change.ts";
import { createSession, type NewSession } from "../store/sessions/create.ts";
import { listSessions } from "../store/sessions/list.ts";
import { resolveSession } from "../store/sessions/read.ts";
import type { Store } from "../store/store.ts";
import type { CliContext } from "./context.ts";

export interface ChatOptions {
  readonly session?: string;
  readonly continue?: true;
  readonly persona?: string;
  readonly model?: string;
  readonly repo?: string;
  readonly plan?: true;
  readonly prompt?: string;
  readonly json?: true;
}

/** A session that is there, or the columns of one that is made with its first message. */
export type ChosenSession =
  | { readonly kind: "existing"; readonly session: Session; readonly notices: readonly string[] }
  | { readonly kind: "new"; readonly columns: NewSession };

/**
 * Finds the session that the options mean. A full id that nobody has begins a session with that
 * id; a prefix that matches nothing is an error and never begins one.
 *
 * Error codes: `session_not_found`, `ambiguous_id`, `session_ended`, `invalid_usage`.
 */
export async function chooseSession(
  cli: CliContext,
  store: Store,
  options: ChatOptions,
): Promise<ChosenSession> {
  refuseEmpty(options);
  if (options.model !== undefined) {
    parseModelName(options.model);
  }
  if (options.continue === true) {
    if (options.session !== undefined) {
      throw new RepriseError("invalid_usage", "Use either --session or --continue, not both.");
    }
    return withOptions(store, await latestOfProject(cli, store, options), options);
  }
  if (options.session === undefined) {
    return { kind: "new", columns: await newSession(cli, options) };
  }
  try {
    const session = await store.read(resolveSession, { reference: options.session });
    refuseEnded(session);
    return await withOptions(store, session, options);
  } catch (error) {
    const reference = parseSessionReference(options.session);
    if (isRepriseError(error, "session_not_found") && reference.kind === "id") {
      return { kind: "new", columns: { ...(await newSession(cli, options)), id: reference.id } };
    }
    throw error;
  }
}

function refuseEmpty(options: ChatOptions): void {
  for (const name of ["session", "persona", "model", "repo", "prompt"] as const) {
    if (options[name]?.trim() === "") {
      throw new RepriseError("invalid_usage", `--${name} needs a value.`);
    }
  }
}

async function newSession(cli: CliContext, options: ChatOptions): Promise<NewSession> {
  const repo_path = resolve(cli.cwd, options.repo ?? ".");
  return {
    repo_path,
    project_key: await projectKeyOf(repo_path),
    ...(options.persona === undefined ? {} : { persona_name: options.persona }),
    ...(options.model === undefined ? {} : { model: options.model }),
    plan_mode: options.plan === true,
  };
}

async function latestOfProject(
  cli: CliContext,
  store: Store,
  options: ChatOptions,
): Promise<Session> {
  const { sessions } = await store.read(listSessions, {
    limit: 1,
    state: "active",
    project_key: await projectKeyOf(resolve(cli.cwd, options.repo ?? ".")),
  });
  const [latest] = sessions;
  if (latest === undefined) {
    throw new RepriseError(
      "session_not_found",
      "This project has no session to continue; begin one with `reprise`.",
    );
  }
  return latest;
}

/** `--model` and `--persona` on a session that has others act like the slash commands. */
async function withOptions(
  store: Store,
  session: Session,
  options: ChatOptions,
): Promise<ChosenSession> {
  const model = options.model === session.model ? undefined : options.model;
  const persona_name = options.persona === session.persona_name ? undefined : options.persona;
  if (model === undefined && persona_name === undefined) {
    return { kind: "existing", session, notices: [] };
  }
  return {
    kind: "existing",
    session: await store.write(startThread, {
      id: session.id,
      archive: false,
      ...(model === undefined ? {} : { model }),
      ...(persona_name === undefined ? {} : { persona_name }),
    }),
    notices: ["Another model or persona begins a fresh agent context; the messages stay."],
  };
}

export function createChosen(store: Store, columns: NewSession): Promise<Session> {
  return store.write(createSession, columns);
}

import { isAbsolute } from "node:path";

import type {
  ListSessionsResponse,
  McpServer,
  SessionConfigOption,
} from "@agentclientprotocol/sdk/unstable";

import { RepriseError } from "../core/errors.ts";
import { isUuid } from "../core/ids.ts";
import { LIVE_POLL_MS, STREAM_POLL_MS, STREAM_UNSENT_BYTES } from "../core/limits.ts";
import { PLAN_AGENT } from "../core/plan-runs.ts";
import type { Session } from "../core/sessions.ts";
import { isStorableText } from "../core/text/text.ts";
import { titleLine } from "../core/text/terminal-text.ts";
import { forkConversation } from "../exchange/fork-conversation.ts";
import { createFeed } from "../exchange/live/feed.ts";
import { stepTo } from "../exchange/live/feed-step.ts";
import { NO_PHASES } from "../exchange/live/live-view.ts";
import { createSessionFeeds } from "../exchange/live/session-feeds.ts";
import { createSessionWatcher } from "../exchange/live/session-watcher.ts";
import { defaultModel } from "../rules/models/config.ts";
import { modelSettings } from "../rules/models/settings.ts";
import { projectKeyOf, realPathOf } from "../store/project-key.ts";
import { isChosen, markChosen } from "../store/records/sessions/choose.ts";
import { createSession } from "../store/records/sessions/create.ts";
import { deleteSessionTree } from "../store/records/sessions/delete-tree.ts";
import { cursorOf, readCursor } from "../store/records/sessions/list-cursor.ts";
import { listSessions } from "../store/records/sessions/list.ts";
import { readSession } from "../store/records/sessions/read.ts";
import { isFolder } from "../workspace/files/is-folder.ts";
import type { Client } from "./client.ts";
import { serversOf } from "./client-servers.ts";
import { type EditorContext, EditorSession, sentenceOf } from "./editor-session.ts";
import type { EditorHost } from "./host.ts";
import { SETUP } from "./initialize.ts";

/** Sessions of one page of a list. */
const PAGE = 100;

/** Where an editor wants to work, and with what. */
interface Place {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[] | undefined;
  readonly additionalDirectories?: readonly string[] | undefined;
}

interface Opened {
  readonly sessionId: string;
  readonly configOptions: SessionConfigOption[];
}

/** The sessions of a connection. The database is opened by the first request that needs it. */
export class EditorSessions {
  readonly #host: EditorHost;
  readonly #client: () => Promise<Client>;
  #isStopped = false;
  readonly #open = new Map<string, EditorSession>();
  #context: Promise<EditorContext> | null = null;
  readonly #closers = new AsyncDisposableStack();

  /** `client` is there once the connection has begun. */
  constructor(host: EditorHost, client: () => Promise<Client>) {
    this.#host = host;
    this.#client = client;
  }

  /** Error codes: `invalid_request`, `database_*`, `config_invalid`. */
  async create(place: Place): Promise<Opened> {
    await refusePlace(place);
    const servers = serversOf(place.mcpServers);
    const { store } = await this.#ready();
    const columns = await this.#host.newSession(place.cwd);
    const session = await store.write(createSession, columns);
    return this.#show(session, servers, { replays: false });
  }

  /**
   * Opens a session that is there; `replays` sends all of it first. One that is open already begins again.
   *
   * Error codes: `session_not_found`, `session_busy` while a prompt of this editor runs, `invalid_request`,
   * `run_takes_no_message`, `database_*`.
   */
  async load(
    place: Place & { readonly sessionId: string },
    how: { readonly replays: boolean },
  ): Promise<Opened> {
    await refusePlace(place);
    const servers = serversOf(place.mcpServers);
    const session = await this.#read(place.sessionId);
    await refuseOtherFolder(session, place);
    const { store } = await this.#ready();
    const choice = { id: session.id, by: "terminal" } as const;
    if (!(await store.read(isChosen, choice))) {
      await store.write(markChosen, choice);
    }
    return this.#show(session, servers, how);
  }

  /** Error codes: as `load`, and as `forkConversation`. */
  async fork(place: Place & { readonly sessionId: string }): Promise<Opened> {
    await refusePlace(place);
    const servers = serversOf(place.mcpServers);
    const session = await this.#read(place.sessionId);
    await refuseOtherFolder(session, place);
    const { store } = await this.#ready();
    const { principal } = this.#host;
    const input = { id: session.id, at_seq: undefined, principal };
    const { fork } = await forkConversation(store, input);
    return this.#show(fork, servers, { replays: false });
  }

  /** Sessions with a folder that take messages, the latest first. Error codes: `invalid_request`, `database_*`. */
  async list({
    cwd,
    cursor,
  }: {
    readonly cwd?: string | null | undefined;
    readonly cursor?: string | null | undefined;
  }): Promise<ListSessionsResponse> {
    if (typeof cwd === "string") {
      refusePath(cwd);
    }
    const { store } = await this.#ready();
    const { sessions, next } = await store.read(listSessions, {
      limit: PAGE,
      state: "active",
      archived: false,
      roots: true,
      ...(typeof cwd === "string" ? { folder_key: await projectKeyOf(cwd) } : {}),
      ...(typeof cursor === "string" ? { after: readCursor(cursor, "activity") } : {}),
    });
    return {
      sessions: sessions.flatMap((session) => {
        const { id, repo_path, agent, created_at, last_message_at } = session;
        return repo_path === null || agent !== null
          ? []
          : [
              {
                sessionId: id,
                cwd: repo_path,
                title: session.title === null && session.name === null ? null : titleLine(session),
                updatedAt: last_message_at ?? created_at,
              },
            ];
      }),
      nextCursor: next === null ? null : cursorOf(next, "activity"),
    };
  }

  /** Returns a session that this connection has open. Error codes: `session_not_found`. */
  opened(id: string): EditorSession {
    const session = this.#open.get(id);
    if (session === undefined) {
      throw new RepriseError(
        "session_not_found",
        "This connection has no such session open. Load or resume it first.",
      );
    }
    return session;
  }

  /** Stops what runs in a session for the editor, if it has the session open. */
  cancel(id: string): void {
    this.#open.get(id)?.cancel();
  }

  /** Checks that a key is there, after a person has set one. Error codes: `invalid_request`, `model_key_missing`. */
  async authenticate(methodId: string): Promise<void> {
    if (methodId !== SETUP) {
      throw new RepriseError("invalid_request", "There is no such way to set a key.");
    }
    const { models } = await this.#host.settings.at(null);
    modelSettings({ name: defaultModel(models), config: models });
  }

  /** Stops what runs for the editor; the session stays. Error codes: as `opened`. */
  async close(id: string): Promise<void> {
    const session = this.opened(id);
    this.#open.delete(id);
    await session.close();
  }

  /** Deletes a session for good. Error codes: `session_not_found`, `session_busy`, `database_*`. */
  async delete(id: string): Promise<void> {
    await this.#read(id);
    const open = this.#open.get(id);
    this.#open.delete(id);
    await open?.close();
    const { store } = await this.#ready();
    const deleted = await store.write(deleteSessionTree, { id });
    await this.#host.forget(store, deleted);
  }

  /** Stops all that runs, and waits for it. What an exchange asks stays open. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#open.values()].map((session) => session.close()));
    this.#open.clear();
  }

  /** Closes the database, after `stop`, with what requests have opened since. Idempotent. */
  async end(): Promise<void> {
    await this.stop();
    await this.#context?.catch(() => null);
    await this.#closers.disposeAsync();
  }

  async #show(
    session: Session,
    servers: ReturnType<typeof serversOf>,
    how: { readonly replays: boolean },
  ): Promise<Opened> {
    const before = this.#open.get(session.id);
    before?.refuseBusy();
    this.#open.delete(session.id);
    await before?.close();
    const opened = new EditorSession(session, servers, await this.#ready());
    this.#open.set(session.id, opened);
    const configOptions = await opened.open(how).catch((error: unknown) => {
      this.#open.delete(session.id);
      throw error;
    });
    // a client takes updates of a session once it knows it
    setImmediate(() => opened.introduce());
    return { sessionId: session.id, configOptions };
  }

  async #read(id: string): Promise<Session> {
    const { store } = await this.#ready();
    if (!isUuid(id)) {
      throw new RepriseError("session_not_found", "No session has this id; list them to see them.");
    }
    const session = await store.read(readSession, { id });
    if (session.agent === PLAN_AGENT) {
      throw new RepriseError(
        "run_takes_no_message",
        "This session runs a plan and takes no messages. `reprise plan status` shows it.",
      );
    }
    return session;
  }

  /** Opens the database once; after a failure the next request tries again. */
  #ready(): Promise<EditorContext> {
    this.#context ??= this.#openContext().catch((error: unknown) => {
      this.#context = null;
      throw error;
    });
    return this.#context;
  }

  async #openContext(): Promise<EditorContext> {
    const host = this.#host;
    if (this.#isStopped) {
      throw new RepriseError("shutting_down", "The editor has ended the connection.");
    }
    const store = this.#closers.use(await host.openStore());
    const onFailure = (error: unknown): void => host.log(sentenceOf(error));
    const feed = this.#closers.adopt(createFeed({ store, onFailure }), (each) => each.close());
    const watcher = this.#closers.adopt(
      createSessionWatcher({
        store,
        pollMs: STREAM_POLL_MS,
        livePollMs: LIVE_POLL_MS,
        onFailure,
      }),
      (each) => each.close(),
    );
    const feeds = createSessionFeeds({
      store,
      watcher,
      source: feed,
      unsentBytes: STREAM_UNSENT_BYTES,
      readPhases: NO_PHASES,
      stepsTo: (view) => (cursor) => stepTo(cursor, view),
    });
    const config = { ...host.exchangerConfig(store), feed };
    return {
      host,
      client: await this.#client(),
      store,
      config,
      feeds,
      confirmation: await host.confirmation(store),
    };
  }
}

/** Error codes: `invalid_request`, `folder_missing`. */
async function refusePlace({ cwd, additionalDirectories = [] }: Place): Promise<void> {
  refusePath(cwd);
  if (additionalDirectories.length > 0) {
    throw new RepriseError(
      "invalid_request",
      "A session works in one folder. Leave additionalDirectories out.",
    );
  }
  if (!(await isFolder(cwd))) {
    throw new RepriseError(
      "folder_missing",
      "There is no folder at the path of cwd. Name one that is there.",
    );
  }
}

/** Error codes: `invalid_request`. */
function refusePath(cwd: string): void {
  if (!isAbsolute(cwd) || !isStorableText(cwd)) {
    throw new RepriseError("invalid_request", "cwd must be an absolute path.");
  }
}

/** An editor that shows another folder would show other files than those that the agent changes. */
async function refuseOtherFolder({ repo_path }: Session, { cwd }: Place): Promise<void> {
  if (repo_path !== null && (await realPathOf(repo_path)) !== (await realPathOf(cwd))) {
    throw new RepriseError(
      "invalid_request",
      "The session works in another folder than cwd. The list of sessions has its folder.",
    );
  }
}

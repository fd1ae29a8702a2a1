import type { PermissionMode } from "../../core/permissions.ts";
import type { Usage } from "../../core/cost/model-calls.ts";
import { usageOfTree } from "../../store/records/model-calls/read-usage.ts";
import { branchOf } from "../../store/git-folder.ts";
import { readTasks } from "../../store/records/messages/read-tasks.ts";
import { isRepriseError } from "../../core/errors.ts";
import type { Notifications, ThemeSetting } from "../../rules/config/user-config.ts";
import { settingsOf } from "../process/config.ts";
import { noticeLine } from "../process/context.ts";
import type { Front } from "../chat/front.ts";
import { onSignals } from "../process/signals.ts";
import { createAttention } from "./screen/attention.ts";
import { helpRows } from "./rows/help-rows.ts";
import { nameOf } from "../output/name-of.ts";
import { openScreen } from "./screen/open-screen.ts";
import { createQueue } from "./editor/queue.ts";
import type { ScreenOptions } from "./screen-options.ts";
import type { SessionScreen } from "./session-screen.ts";
import type { Theme } from "./text/theme.ts";
import { startRows } from "./start-rows.ts";
import { contextOf, statusOf, windowTitle } from "./status.ts";
import { statusRow } from "./status-line.ts";
import { noticing, noticingFollow } from "./questions/noticing.ts";
import { createTheme } from "./text/themes.ts";

/** Messages of a session that are shown again when it is resumed, at most. */
const REPLAYED_MESSAGES = 60;
/** Exchanges of it. */
const REPLAYED_EXCHANGES = 3;

/** Modes that Shift-Tab sets, one after the other. `all` is set by its name alone. */
const MODES_IN_TURN: readonly PermissionMode[] = ["ask", "edits", "auto", "plan"];

/** The prompt before there is an editor, with what was typed and the cursor. */
function firstPrompt({ accent }: Theme, typed: string, width: number): string {
  return `${accent(">")} ${typed.slice(-Math.max(1, width - 4))}\u001b[7m \u001b[27m`;
}

/**
 * A session on a screen. What the first key needs is loaded with it: until then there is only a prompt with what was typed,
 * and the status line.
 */
export function openScreenFront(options: ScreenOptions): Front {
  const { cli, conversation, terminal, store } = options;
  const leaving = new AbortController();
  let theme: Theme = createTheme({ env: cli.env });
  let shown: SessionScreen | null = null;
  let loading: Promise<SessionScreen> | null = null;
  let interrupt: (() => void) | null = null;
  /** Nothing runs: what is sent comes next. */
  let isWaiting = false;
  let mode: PermissionMode | null = null;
  let branch: string | null = null;
  /** Name of the session, or its title. */
  let name: string | null = null;
  let usage: Usage | null = null;
  let window: () => number | null = () => null;
  let notifications: Notifications = "bell";
  const settings = settingsOf(cli);
  const attention = createAttention({
    setting: () => notifications,
    env: cli.env,
    send: terminal.draw,
    now: () => performance.now(),
  });

  const status = (width: number): string =>
    statusRow(statusOf(options, { shown, mode, window, name, usage, branch }), {
      width,
      theme,
      columns: screen.text(),
    });
  const rows = (width: number, height: number): readonly string[] => [
    ...(shown === null
      ? ["", firstPrompt(theme, screen.earlyText(), width)]
      : shown.rows(width, height - 1)),
    status(width),
  ];
  const queue = createQueue(() => screen.changed());
  const open = async (): Promise<SessionScreen> => {
    const [{ SessionScreen }, background, setting] = await Promise.all([
      import("./session-screen.ts"),
      screen.background(),
      configured(),
    ]);
    theme = createTheme({ env: cli.env, background, setting });
    conversation.prepare();
    const made = await SessionScreen.open({
      ...options,
      theme,
      screen,
      queue,
      leaving: leaving.signal,
      interrupt: () => interrupt,
      mayRewind: () => isWaiting && (conversation.current()?.last_seq ?? 0) > 0,
      nextMode: () => {
        changing = changing.then(nextMode, nextMode);
      },
    });
    shown = made;
    screen.changed();
    return made;
  };
  const load = (): Promise<SessionScreen> => (loading ??= open());
  let changing: Promise<void> = Promise.resolve();
  const nextMode = async (): Promise<void> => {
    try {
      const now = mode ?? (await conversation.mode());
      mode = MODES_IN_TURN[(MODES_IN_TURN.indexOf(now) + 1) % MODES_IN_TURN.length] ?? "ask";
      await conversation.setPermission(mode);
    } catch (error) {
      if (!isRepriseError(error)) {
        throw error;
      }
      mode = null;
      noticeLine(cli, error.message);
    }
    screen.changed();
  };
  const leave = (): void => {
    leaving.abort();
  };
  const screen = openScreen(cli, terminal, {
    live: { rows },
    modes: attention,
    on: {
      end: leave,
      handler: () => shown,
      load: () => load(),
    },
  });
  const ignoreInterrupts = onSignals(cli, () => void load().then((each) => each.stop()), [
    "SIGINT",
  ]);
  const ignoreStops = onSignals(cli, leave, ["SIGTERM", "SIGHUP"]);

  /** The theme of the config; also notes how to notify. What a person sends shows what is wrong with a config. */
  const configured = async (): Promise<ThemeSetting> => {
    const config = await settings.config().catch(() => null);
    notifications = config?.notifications ?? "bell";
    return config?.theme ?? "auto";
  };
  const findBranch = async (): Promise<void> => {
    const { repo_path } = conversation.planned();
    branch = repo_path === null ? null : await branchOf(repo_path);
  };
  /** Leaves the mode unknown if a setting spoils it: the error is shown once a person sends something. */
  const findMode = async (): Promise<void> => {
    try {
      mode = await conversation.mode();
    } catch (error) {
      if (!isRepriseError(error)) {
        throw error;
      }
    }
  };
  /** Finds out what can be known without sending anything. */
  const look = async (): Promise<void> => {
    try {
      const session = conversation.current();
      name = session === null ? null : await nameOf(store, session);
      usage = session === null ? null : await store.read(usageOfTree, session);
      const tasks = session === null ? [] : await store.read(readTasks, session);
      shown?.view.setTasks(tasks);
      attention.title(windowTitle(conversation, name));
      await findBranch();
      mode = await conversation.mode();
      const { models } = await settings.at(conversation.planned().repo_path);
      window = onFirstUse(() => contextOf(options, models));
      screen.changed();
    } catch (error) {
      // the error is shown once a person sends something
      if (!isRepriseError(error)) {
        throw error;
      }
    }
  };
  const replay = async (): Promise<void> => {
    const session = conversation.current();
    if (session === null || session.last_seq === 0) {
      return;
    }
    const { readMessagesAfter } = await import("../../store/records/messages/read.ts");
    const after_seq = Math.max(0, session.last_seq - REPLAYED_MESSAGES);
    const page = { session_id: session.id, after_seq, all: false, limit: REPLAYED_MESSAGES };
    const messages = await store.read(readMessagesAfter, page);
    const opened = await load();
    screen.commit([""]);
    await opened.replay(messages, { exchanges: REPLAYED_EXCHANGES });
  };

  const stopped = (what: string): void =>
    attention.stopped(`${what}: ${windowTitle(conversation, name)}`);
  const asks = async <Answer>(ask: (on: SessionScreen) => Promise<Answer>): Promise<Answer> => {
    const on = await load();
    stopped("The agent asks");
    try {
      return await ask(on);
    } finally {
      attention.began();
    }
  };

  return {
    leaving: leaving.signal,
    help: (commands) => helpRows(commands, { width: screen.width, text: screen.text() }),
    greet: async (greeting) => {
      theme = createTheme({ env: cli.env, setting: await configured() });
      await findMode();
      await findBranch();
      const { width } = screen;
      const home = cli.env["HOME"];
      screen.commit(startRows(greeting, { width, text: screen.text(), theme, mode, branch, home }));
      await replay();
      void look();
    },
    replay,
    next: async (news) => {
      void look();
      isWaiting = true;
      const event = await queue.next(leaving.signal, news);
      isWaiting = false;
      attention.began();
      if (event.kind === "line") {
        (await load()).sent(event);
      }
      return event;
    },
    onInterrupt: (callback) => {
      interrupt = callback;
    },
    waiting: () => queue.messages().length,
    giveBack: (message) => {
      if (shown === null) {
        void load().then((each) => each.takeBack(message ?? undefined));
      } else {
        shown.takeBack(message ?? undefined);
      }
    },
    drop: () => {
      shown?.takeBack();
      return 0;
    },
    confirm: async (question) => asks((on) => on.confirm(question)),
    ask: async (asked) => asks((on) => on.ask(asked)),
    showDetails: async (n) => (await load()).showDetails(n),
    pickModel: async (models, current) => (await load()).pickModel(models, current),
    pickSession: async () => (await load()).pickSession(),
    showDiff: async (title, changes) => (await load()).showDiff(title, changes),
    rewind: async (source) => (await load()).rewind(source),
    outside: (work) => screen.outside(work),
    working: (text, canStop) => shown?.working(text, canStop) ?? (() => undefined),
    view: async () => noticing((await load()).exchange(), stopped),
    follow: async () => noticingFollow((await load()).follow(), stopped),
    close: async () => {
      ignoreInterrupts();
      await shown?.close();
      await screen.close();
      ignoreStops();
    },
  };
}

/** Remembers a value that is found when it is first needed; null if a setting spoils it. */
function onFirstUse(find: () => number | null): () => number | null {
  let found: { readonly value: number | null } | null = null;
  return () => {
    try {
      found ??= { value: find() };
    } catch (error) {
      // what a person sends shows what is wrong
      if (!isRepriseError(error)) {
        throw error;
      }
      found = { value: null };
    }
    return found.value;
  };
}

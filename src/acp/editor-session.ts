import type { PromptResponse, SessionConfigOption } from "@agentclientprotocol/sdk/unstable";

import { isRepriseError, RepriseError } from "../core/errors.ts";
import { isFinal } from "../core/exchanges.ts";
import type { GivenReply } from "../core/questions.ts";
import type { Session } from "../core/sessions.ts";
import type { Confirmation } from "../exchange/confirmation.ts";
import { type Conversation, createConversation } from "../exchange/conversation.ts";
import type { ExchangerConfig } from "../exchange/exchanger.ts";
import type { FeedStep } from "../exchange/live/feed-step.ts";
import type { SessionFeeds } from "../exchange/live/session-feeds.ts";
import { whetherRuns } from "../exchange/runnable.ts";
import { changedTexts } from "../exchange/undo/changed-texts.ts";
import type { McpEntries } from "../rules/servers/server.ts";
import { readTasks } from "../store/records/messages/read-tasks.ts";
import type { Store } from "../store/store.ts";
import { readReasoning } from "../store/verify/read-reasoning.ts";
import { keptBytesIn } from "../workspace/undo/kept-bytes.ts";
import type { Client } from "./client.ts";
import { withServers } from "./client-servers.ts";
import { availableCommands, readPrompt } from "./commands.ts";
import type { EditorHost } from "./host.ts";
import { type Asked, Questions } from "./questions.ts";
import { SessionFacts } from "./session-facts.ts";
import { SessionView } from "./session-view.ts";
import { type Turn, runTurn } from "./turn.ts";
import { planUpdate, textBlock } from "./updates.ts";

/** Answers that are shown again with what their models thought: the latest. */
const MAX_THOUGHTS = 200;

/** Shared by all sessions of a connection. */
export interface EditorContext {
  readonly host: EditorHost;
  readonly client: Client;
  readonly store: Store;
  readonly config: ExchangerConfig;
  readonly feeds: SessionFeeds<FeedStep>;
  readonly confirmation: Confirmation;
}

/** A session that an editor has open: the conversation runs what the editor sends, and the view shows what happens. */
export class EditorSession {
  readonly id: string;
  readonly #context: EditorContext;
  readonly #conversation: Conversation;
  readonly #facts: SessionFacts;
  readonly #questions: Questions;
  readonly #view: SessionView;
  /** Aborted when the editor leaves the session, and when all that it began has ended. */
  readonly #leaving = new AbortController();
  readonly #closing = new AbortController();
  readonly #turns = new Set<AbortController>();
  /** Work for the editor, one after the other, whatever it ends with. */
  #working: Promise<unknown> = Promise.resolve();
  #isPrompting = false;

  constructor(session: Session, servers: McpEntries, context: EditorContext) {
    const { host, client, store, config, confirmation } = context;
    this.id = session.id;
    this.#context = context;
    const settings = withServers(host.settings, servers);
    this.#conversation = createConversation({
      config: { ...config, settings },
      openExchanger: host.openExchanger,
      agent: null,
      start: { kind: "existing", session },
      whenBusy: "refuse",
      principal: host.principal,
      confirmation,
    });
    this.#facts = new SessionFacts(
      { conversation: this.#conversation, settings, personas: config.personas },
      (update) => client.update(session.id, update),
    );
    const kept = config.undoFolder === undefined ? null : keptBytesIn(config.undoFolder);
    this.#view = new SessionView({
      session_id: session.id,
      folder: () => this.#conversation.planned().repo_path,
      feeds: context.feeds,
      send: (update) => client.update(session.id, update),
      onExchange: ({ state }) => this.#onExchange(isFinal(state) || state === "interrupted"),
      onQuestion: (question) =>
        question.state === "open"
          ? this.#questions.ask(question)
          : this.#questions.end(question.id),
      changed: (call_id) =>
        changedTexts({ store, kept, secrets: config.secrets }, { session_id: session.id, call_id }),
      noticeOf: (sentence) => client.noticeOf(sentence),
    });
    this.#questions = new Questions({
      client,
      sessionId: session.id,
      toolCallId: (call_id) => this.#view.toolCallId(call_id),
      answer: (question, reply) => this.#answer(question, reply),
    });
  }

  /**
   * Begins to show the session: from its first message, or what is new. Resolves with its options once all that is stored
   * was sent.
   *
   * Error codes: `session_not_found`, `database_*`.
   */
  async open({ replays }: { readonly replays: boolean }): Promise<SessionConfigOption[]> {
    const { store, client } = this.#context;
    const last = this.#conversation.current()?.last_seq ?? 0;
    const answers = { session_id: this.id, after_seq: 0, before_seq: last + 1 };
    this.#view.recall(
      replays ? await store.read(readReasoning, { ...answers, limit: MAX_THOUGHTS }) : [],
    );
    const following = this.#view.follow(replays ? 0 : last, this.#closing.signal);
    following.catch((error: unknown) => this.#failed(error));
    // its snapshot comes before the first message
    await Promise.race([following, this.#view.next().then(() => this.#view.hasSeen(last))]);
    this.#view.recall([]);
    const tasks = replays ? [] : await store.read(readTasks, { id: this.id });
    if (tasks.length > 0) {
      await client.update(this.id, planUpdate(tasks));
    }
    await this.#view.endCalls();
    return this.#facts.options();
  }

  /** Sends commands, title and usage, and what of the folder is not used. */
  introduce(): void {
    this.#introduce().catch((error: unknown) => this.#failed(error));
  }

  async #introduce(): Promise<void> {
    const { client, config, host } = this.#context;
    const { repo_path } = this.#conversation.planned();
    const commands = await availableCommands({ personas: config.personas, repoPath: repo_path });
    await client.update(this.id, {
      sessionUpdate: "available_commands_update",
      availableCommands: commands,
    });
    await this.#facts.showTitle();
    const withheld = repo_path === null ? null : await host.withheld(repo_path);
    if (withheld !== null) {
      await this.notice(withheld);
    }
    const session = this.#conversation.current();
    if (session !== null && session.last_seq > 0) {
      await this.#facts.showUsage();
    }
    const state = this.#view.exchange?.state;
    if (this.#turns.size === 0 && (state === "interrupted" || state === "failed")) {
      await this.notice(
        "The last exchange was interrupted or failed. Send /continue to resume it, or a new message to skip it.",
      );
    }
  }

  /** Error codes: `session_busy` while a prompt of the editor runs. */
  refuseBusy(): void {
    if (this.#isPrompting) {
      throw new RepriseError(
        "session_busy",
        "The session runs another prompt of this editor. Wait for its end, or cancel it.",
      );
    }
  }

  /** Error codes: as `setConfigOption`. */
  async setOption(choice: {
    readonly id: string;
    readonly value: unknown;
  }): Promise<SessionConfigOption[]> {
    return this.#facts.setOption(choice);
  }

  /**
   * Runs an exchange with a message and resolves at its end, when all of it was sent. One that runs elsewhere is waited for.
   *
   * Error codes: as `Conversation.send`; `session_busy` while another prompt of the editor runs.
   */
  async prompt(text: string): Promise<PromptResponse> {
    this.refuseBusy();
    this.#isPrompting = true;
    try {
      return await this.#work((turn) => this.#prompt(text, turn));
    } finally {
      this.#isPrompting = false;
    }
  }

  /** Stops what runs for the editor. What another program runs continues. */
  cancel(): void {
    for (const turn of this.#turns) {
      turn.abort();
    }
  }

  notice(sentence: string): Promise<void> {
    return this.#context.client.notice(this.id, sentence);
  }

  /** Stops what runs for the editor, and shows nothing more. What is asked stays open for others. Idempotent. */
  async close(): Promise<void> {
    this.#leaving.abort(new RepriseError("shutting_down", "The editor has closed the session."));
    this.#questions.close();
    await this.#working;
    this.#closing.abort();
    await this.#conversation.leave("prompt_input_exit", this.#context.host.log);
  }

  async #prompt(text: string, turn: Turn): Promise<PromptResponse> {
    const { personas } = this.#context.config;
    const { repo_path: repoPath } = this.#conversation.planned();
    const line = await readPrompt(text, { personas, repoPath });
    if (line.kind === "compact") {
      return this.#compact(turn.signal);
    }
    const asked = line.kind === "message" ? await this.#askedForText() : null;
    if (asked !== null && line.kind === "message") {
      const given = { given: { text: line.text }, note: null };
      await this.#conversation.answer({ ...asked, path: [] }, given, true);
      return runTurn(turn, null);
    }
    return runTurn(turn, line.kind === "message" ? line.text : null);
  }

  /** The question for a text that the editor cannot ask with a form: the next message is the answer. */
  async #askedForText() {
    const open = await this.#conversation.openQuestions();
    return open.find(({ id, choices }) => choices === null && this.#questions.isLeft(id)) ?? null;
  }

  async #compact(signal: AbortSignal): Promise<PromptResponse> {
    const compacted = await this.#conversation.compact(signal);
    const texts = {
      compacted: "Older messages are summarised for the model.",
      nothing: "There is nothing to summarise.",
      stopped: "Stopped.",
    };
    const outcome = compacted?.outcome ?? "nothing";
    await this.#context.client.update(this.id, {
      sessionUpdate: "agent_message_chunk",
      content: textBlock(texts[outcome]),
    });
    await this.#facts.showUsage();
    return { stopReason: outcome === "stopped" ? "cancelled" : "end_turn" };
  }

  /** Runs work after what runs already; `cancel` and the end of the connection stop it. */
  async #work<Result>(work: (turn: Turn) => Promise<Result>): Promise<Result> {
    const cancelled = new AbortController();
    this.#turns.add(cancelled);
    const turn: Turn = {
      ...this.#context,
      conversation: this.#conversation,
      view: this.#view,
      questions: this.#questions,
      cancelled: cancelled.signal,
      signal: AbortSignal.any([cancelled.signal, this.#leaving.signal]),
      notice: (sentence) => this.notice(sentence),
    };
    const working = this.#working.then(() => work(turn));
    this.#working = working.catch(() => undefined);
    try {
      return await working;
    } finally {
      this.#turns.delete(cancelled);
      await this.#afterExchange();
    }
  }

  /** Stores the person's answer; an exchange that nobody else continues is continued here. */
  async #answer(question: Asked, given: GivenReply): Promise<boolean> {
    const continues = this.#turns.size > 0;
    try {
      const asked = (await this.#conversation.openQuestions()).find(({ id }) => id === question.id);
      if (asked === undefined) {
        return true;
      }
      await this.#conversation.answer(asked, { given, note: null }, continues);
      const queued = { session_id: this.id, state: "queued" } as const;
      const { store } = this.#context;
      if (!continues && !(await whetherRuns(store, queued, { besides: false })).runnable) {
        await this.#work((turn) => runTurn(turn, null));
      }
    } catch (error) {
      if (!isRepriseError(error, "question_answered", "question_withdrawn")) {
        await this.notice(sentenceOf(error));
        return false;
      }
    }
    return true;
  }

  #onExchange(isOver: boolean): void {
    if (isOver && this.#turns.size === 0) {
      void this.#afterExchange();
    }
  }

  async #afterExchange(): Promise<void> {
    if (this.#leaving.signal.aborted || this.#view.isOver) {
      return;
    }
    try {
      await this.#view.endCalls();
      await this.#facts.show();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Logs what fails beside a request; nobody needs it once the editor has left. */
  #failed(error: unknown): void {
    if (!this.#leaving.signal.aborted) {
      this.#context.host.log(sentenceOf(error));
    }
  }
}

/** A sentence for a log or a person; of what was not thrown on purpose only that it happened. */
export function sentenceOf(error: unknown): string {
  return isRepriseError(error) ? error.message : "Something failed in Reprise itself.";
}

import type { SessionUpdate } from "@agentclientprotocol/sdk/unstable";

import type { LiveEvent } from "../core/schemas/live.ts";
import type { ExchangeInfo, QuestionInfo } from "../core/schemas/schemas.ts";
import { EventReader, type ShownMessage } from "../exchange/live/event-reader.ts";
import type { FeedStep } from "../exchange/live/feed-step.ts";
import type { SessionFeeds } from "../exchange/live/session-feeds.ts";
import type { ChangedText } from "../exchange/undo/changed-texts.ts";
import { Updates } from "./updates.ts";

interface ViewOptions {
  readonly session_id: string;
  readonly folder: () => string | null;
  readonly feeds: SessionFeeds<FeedStep>;
  readonly send: (update: SessionUpdate) => Promise<void>;
  readonly onExchange: (exchange: ExchangeInfo) => void;
  readonly onQuestion: (question: QuestionInfo) => void;
  /** Reads which files a call changed. */
  readonly changed: (call_id: string) => Promise<readonly ChangedText[]>;
  /** The update that shows a sentence beside the conversation. */
  readonly noticeOf: (sentence: string) => SessionUpdate;
}

/** Shows a session from its live feed: each thing is shown once and in order, also of exchanges that others run. */
export class SessionView {
  readonly #options: ViewOptions;
  readonly #updates: Updates;
  readonly #reader: EventReader;
  /** The text that the client has sent, until its message was read. */
  #sent: string | null = null;
  /** Thoughts of models before answers that are shown again, by the ids of these. */
  #thoughts: Map<string, string> = new Map();
  /** The last message that was read. */
  #seen = 0;
  #exchange: ExchangeInfo | null = null;
  #isOver = false;
  #sending: Promise<void> = Promise.resolve();
  #changed = Promise.withResolvers<void>();

  constructor(options: ViewOptions) {
    this.#options = options;
    this.#updates = new Updates(
      {
        exchange: (exchange) => this.#heardExchange(exchange),
        question: options.onQuestion,
        isOwn: (message) => this.#isOwn(message),
        thought: (message_id) => this.#thoughts.get(message_id) ?? "",
        changed: options.changed,
        noticeOf: options.noticeOf,
      },
      options.folder,
    );
    this.#reader = new EventReader(this.#updates, { callsInOrder: true });
  }

  /** The exchange that runs, or ran last, as far as it was read. */
  get exchange(): ExchangeInfo | null {
    return this.#exchange;
  }

  /** True if nothing more is read: the session was deleted, or the view is closed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  toolCallId(call_id: string): string {
    return this.#updates.toolCallId(call_id);
  }

  /**
   * Shows what comes after a message, until the signal is aborted or the session is deleted.
   *
   * Error codes: `session_not_found`, `database_*`, for what is read first.
   */
  async follow(after_seq: number, signal: AbortSignal): Promise<void> {
    const { session_id, feeds } = this.#options;
    this.#seen = after_seq;
    try {
      for await (const event of feeds.events({ session_id, after_seq, all: true, signal })) {
        this.#read(event);
        await this.flush();
        this.#tell();
      }
    } finally {
      this.#isOver = true;
      this.#tell();
    }
  }

  /** Shows these thoughts before their answers; none replaces those of before. */
  recall(thoughts: readonly { readonly message_id: string; readonly text: string }[]): void {
    this.#thoughts = new Map(thoughts.map(({ message_id, text }) => [message_id, text]));
  }

  /** Resolves at the next event after this call. */
  next(): Promise<void> {
    return this.#changed.promise;
  }

  /** Resolves once a message was shown, or nothing more is. */
  async hasSeen(seq: number): Promise<void> {
    while (this.#seen < seq && !this.#isOver) {
      await this.next();
    }
    await this.flush();
  }

  /** Leaves out the next message with this text, which the client shows itself. */
  expect(text: string | null): void {
    this.#sent = text;
  }

  /** Ends calls that have no result, when their exchange does not run any more. */
  async endCalls(): Promise<void> {
    const state = this.#exchange?.state ?? "done";
    if (state !== "queued" && state !== "running" && state !== "waiting") {
      this.#updates.endRunning();
      await this.flush();
    }
  }

  /** Sends what was not sent yet, in order. */
  flush(): Promise<void> {
    this.#sending = this.#sending.then(async () => {
      for await (const update of this.#updates.take()) {
        await this.#options.send(update);
      }
    });
    return this.#sending;
  }

  #read(event: LiveEvent): void {
    if (event.event === "message") {
      this.#seen = Math.max(this.#seen, event.data.seq);
      if (event.data.archived) {
        return;
      }
    }
    this.#reader.read(event);
  }

  #heardExchange(exchange: ExchangeInfo): void {
    this.#exchange = exchange;
    this.#options.onExchange(exchange);
  }

  /** A hook may have added to it. */
  #isOwn({ content }: ShownMessage): boolean {
    const isOwn = this.#sent !== null && content.startsWith(this.#sent);
    this.#sent = isOwn ? null : this.#sent;
    return isOwn;
  }

  #tell(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }
}

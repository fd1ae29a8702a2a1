import type { SessionUpdate, ToolCallLocation } from "@agentclientprotocol/sdk/unstable";

import type { ExchangeInfo, QuestionInfo } from "../core/schemas/schemas.ts";
import type { ToolCall } from "../core/sessions.ts";
import { commandNotes } from "../core/text/command-notes.ts";
import { type Task, tasksOf, type TaskState } from "../core/text/tasks.ts";
import { visible } from "../core/text/terminal-text.ts";
import type { EventSink, ShownMessage } from "../exchange/live/event-reader.ts";
import type { ChangedText } from "../exchange/undo/changed-texts.ts";
import { callFacts, resultContent, statusOf, textContent } from "./tool-calls.ts";

/** Events of a session besides what is shown of it. */
export interface Heard {
  exchange(exchange: ExchangeInfo): void;
  question(question: QuestionInfo): void;
  /** True for a message that the client sent itself, and shows. */
  isOwn(message: ShownMessage): boolean;
  /** Thoughts of a model before an answer that was stored before; empty for none. */
  thought(message_id: string): string;
  /** Reads which files a call changed. */
  changed(call_id: string): Promise<readonly ChangedText[]>;
  /** The update that shows a sentence beside the conversation. */
  noticeOf(sentence: string): SessionUpdate;
}

/** An update, or one that has to be read first. */
type Pending = SessionUpdate | (() => Promise<SessionUpdate>);

const PLAN_STATES = { done: "completed", running: "in_progress", pending: "pending" } as const;

/** Characters of the output of a command that runs: its end. */
const MAX_OUTPUT = 16 * 1024;

/** Turns what a person who watches a session sees into updates of the protocol. */
export class Updates implements EventSink {
  readonly #heard: Heard;
  readonly #folder: () => string | null;
  readonly #pending: Pending[] = [];
  /** How often the id of a call has come: models use one again, and the protocol's are unique. */
  readonly #uses = new Map<string, number>();
  /** Calls that have no result, with what they have printed. */
  readonly #running = new Map<string, { readonly call: ToolCall; text: string }>();

  constructor(heard: Heard, folder: () => string | null) {
    this.#heard = heard;
    this.#folder = folder;
  }

  /** Returns the updates that were not taken yet, in order. */
  async *take(): AsyncGenerator<SessionUpdate, void> {
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
      yield typeof next === "function" ? await next() : next;
    }
  }

  /** The id that a client knows a call by. */
  toolCallId(call_id: string): string {
    const uses = this.#uses.get(call_id) ?? 1;
    return uses === 1 ? call_id : `${call_id}:${uses}`;
  }

  output(call_id: string, text: string, missing: number): void {
    const run = this.#running.get(call_id);
    if (run !== undefined) {
      const gap = missing === 0 ? "" : `… ${missing} lines are not shown here …\n`;
      run.text = (run.text + gap + text).slice(-MAX_OUTPUT);
      this.#add({
        sessionUpdate: "tool_call_update",
        toolCallId: this.toolCallId(call_id),
        content: [textContent(run.text)],
      });
    }
  }

  /** Ends calls that have no result because their exchange does not run any more. */
  endRunning(): void {
    for (const [call_id, { call }] of this.#running) {
      if (tasksOf(call) !== null) {
        continue;
      }
      this.#add({
        sessionUpdate: "tool_call_update",
        toolCallId: this.toolCallId(call_id),
        status: "failed",
      });
    }
    this.#running.clear();
  }

  reasoning(messageId: string, piece: string): void {
    if (piece !== "") {
      this.#add({ sessionUpdate: "agent_thought_chunk", messageId, content: textBlock(piece) });
    }
  }

  text(messageId: string, piece: string): void {
    this.#add({ sessionUpdate: "agent_message_chunk", messageId, content: textBlock(piece) });
  }

  textEnd(): void {
    // a client keeps what it was sent; an answer that begins again has another id
  }

  message(message: ShownMessage, hasArrived: boolean): void {
    const { role, content, message_id: messageId, is_summary } = message;
    if (is_summary || hasArrived) {
      return;
    }
    if (role === "assistant") {
      this.reasoning(messageId, this.#heard.thought(messageId));
    }
    if (content === "") {
      return;
    }
    if (role === "assistant") {
      this.text(messageId, content);
    } else if (role === "user" && !this.#heard.isOwn(message)) {
      this.#add({ sessionUpdate: "user_message_chunk", messageId, content: textBlock(content) });
    }
  }

  call(call: ToolCall): void {
    const { id, name } = call;
    if (this.#running.has(id)) {
      // an exchange that has asked continues with the calls that it had
      return;
    }
    this.#uses.set(id, (this.#uses.get(id) ?? 0) + 1);
    this.#running.set(id, { call, text: "" });
    if (tasksOf(call) !== null) {
      return;
    }
    this.#add({
      sessionUpdate: "tool_call",
      toolCallId: this.toolCallId(id),
      name,
      status: "in_progress",
      ...callFacts(call, this.#folder()),
    });
  }

  result({ call_id, content, status }: ShownMessage): void {
    const call = this.#running.get(call_id ?? "")?.call;
    if (call_id === null || call === undefined) {
      return;
    }
    this.#running.delete(call_id);
    const tasks = tasksOf(call);
    if (tasks !== null) {
      if (status === "ok") {
        this.#add({ sessionUpdate: "plan", entries: tasks.map(planEntry) });
      }
      return;
    }
    const update = {
      sessionUpdate: "tool_call_update",
      toolCallId: this.toolCallId(call_id),
      status: statusOf(status),
    } as const;
    const mayHaveChanged = call.effect === "changes" || call.effect === "runs";
    if (!mayHaveChanged) {
      this.#add({ ...update, content: resultContent(content, []) });
      return;
    }
    this.#pending.push(async () => {
      const changed = await this.#heard.changed(call_id);
      const locations: ToolCallLocation[] = changed.map(({ path }) => ({ path }));
      return {
        ...update,
        content: resultContent(content, changed),
        ...(locations.length === 0 ? {} : { locations }),
      };
    });
    // clients hide the text of a result until it is opened
    const notes = call.effect === "runs" ? commandNotes(content) : [];
    notes.forEach((note) => this.#add(this.#heard.noticeOf(note)));
  }

  exchange(exchange: ExchangeInfo): void {
    this.#heard.exchange(exchange);
  }

  question(question: QuestionInfo): void {
    this.#heard.question(question);
  }

  usage(): void {
    // the client gets the usage of the session after each exchange
  }

  retry(): void {
    // the answer comes later, or the exchange fails
  }

  #add(update: SessionUpdate): void {
    this.#pending.push(update);
  }
}

/** A text of a model, a file or a person, without what a terminal would obey. */
export function textBlock(text: string) {
  return { type: "text", text: visible(text.toWellFormed()) } as const;
}

function planEntry({ text, state }: { readonly text: string; readonly state: TaskState }) {
  return { content: text, priority: "medium", status: PLAN_STATES[state] } as const;
}

/** The plan that a client shows, from a list that was stored. */
export function planUpdate(tasks: readonly Task[]): SessionUpdate {
  return { sessionUpdate: "plan", entries: tasks.map(planEntry) };
}

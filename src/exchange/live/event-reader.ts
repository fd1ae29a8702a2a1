import type { LiveEvent, LiveUsage } from "../../core/schemas/live.ts";
import type { LiveOutput, LiveRetry } from "../../core/live/live-state.ts";
import type { ExchangeInfo, MessageInfo, QuestionInfo } from "../../core/schemas/schemas.ts";
import type { ToolCall } from "../../core/sessions.ts";
import { OutputPieces } from "./output-lines.ts";
import { ReasoningPieces } from "./reasoning-pieces.ts";

/** A stored message, as the live feed has it. */
export type ShownMessage = Omit<MessageInfo, "session_id" | "token_count" | "archived">;

/** A call, from whichever event came first. */
export interface KnownCall extends ToolCall {
  readonly duration_ms: number | null;
}

/** Takes what a person who watches a session sees, in order. */
export interface EventSink {
  /** A piece of what the model thinks of an answer; the first one begins it, and may be empty. */
  reasoning(message_id: string, piece: string): void;
  /** A piece of an answer that arrives; the first one begins it. */
  text(message_id: string, piece: string): void;
  /** The answer that arrived is stored; or it is void, and may come again with another id. */
  textEnd(message_id: string, isVoid: boolean): void;
  /** A stored message other than a result. `hasArrived`: its text came before, piece by piece. */
  message(message: ShownMessage, hasArrived: boolean): void;
  /** A call that was not seen before. */
  call(call: ToolCall): void;
  /** Whole lines that a call has printed, clean; `missing` lines before them did not arrive. */
  output(call_id: string, text: string, missing: number): void;
  /** The result of a call; null for one that was not seen. */
  result(message: ShownMessage, call: KnownCall | null): void;
  exchange(exchange: ExchangeInfo): void;
  question(question: QuestionInfo): void;
  usage(usage: LiveUsage): void;
  retry(retry: LiveRetry | null): void;
}

interface ReadCall extends KnownCall {
  readonly isShown: boolean;
  readonly isOver: boolean;
}

export interface EventReaderOptions {
  /** True to give the calls of a snapshot after the messages that were stored before them. */
  readonly callsInOrder: boolean;
}

/** Reads the live feed of a session: the one place that knows what its events mean together. */
export class EventReader {
  readonly #sink: EventSink;
  readonly #callsInOrder: boolean;
  readonly #calls = new Map<string, ReadCall>();
  #arriving: string | null = null;
  readonly #reasoning = new ReasoningPieces();
  readonly #outputs = new OutputPieces();
  /** Messages until this one are older than the calls of the snapshot. */
  #backlogEnd = 0;

  constructor(sink: EventSink, { callsInOrder }: EventReaderOptions) {
    this.#sink = sink;
    this.#callsInOrder = callsInOrder;
  }

  read(live: LiveEvent): void {
    const sink = this.#sink;
    const { event, data } = live;
    switch (event) {
      case "snapshot":
        this.#snapshot(live);
        break;
      case "reasoning":
        this.#reason(live);
        break;
      case "text":
        this.#text(data.message_id, data.text);
        break;
      case "reset":
        if (data.message_id === this.#arriving) {
          this.end();
        }
        break;
      case "message":
        this.#stored(data);
        if (data.seq >= this.#backlogEnd) {
          this.#showCalls();
        }
        break;
      case "exchange":
        this.#exchange(data);
        break;
      case "question":
        sink.question(data);
        break;
      case "tool_call":
        this.#know(data);
        this.#showCalls();
        break;
      case "output":
        this.#output(data);
        break;
      case "usage":
        sink.usage(data);
        break;
      case "retry":
        sink.retry(data);
        break;
      case "phase":
        break;
    }
  }

  /** Reads a message that was stored before, ascending by `seq`. */
  replay(message: ShownMessage): void {
    if (message.role === "user") {
      // calls of earlier exchanges get no result any more, and ids may come again
      this.#calls.clear();
    }
    this.#stored(message);
  }

  /** Nothing follows: a text that arrives is stored by nobody. */
  end(): void {
    const message_id = this.#arriving;
    this.#arriving = null;
    if (message_id !== null) {
      this.#sink.textEnd(message_id, true);
    }
  }

  #snapshot(snapshot: Extract<LiveEvent, { event: "snapshot" }>): void {
    const { data } = snapshot;
    if (data.exchange !== null) {
      this.#exchange(data.exchange);
    }
    this.#backlogEnd = data.text === null ? data.last_seq : 0;
    for (const call of data.calls) {
      this.#know(call);
    }
    if (!this.#callsInOrder || data.text !== null) {
      this.#showCalls();
    }
    data.outputs.forEach((output) => this.#output(output));
    for (const question of data.questions) {
      this.#sink.question(question);
    }
    this.#sink.retry(data.retry);
    this.#reason(snapshot);
    if (data.text !== null) {
      this.#text(data.text.message_id, data.text.text);
    }
  }

  #exchange(exchange: ExchangeInfo): void {
    if (exchange.state !== "running" && exchange.state !== "queued") {
      this.#calls.clear();
      this.#outputs.clear();
      this.end();
    }
    this.#sink.exchange(exchange);
  }

  #output(output: LiveOutput): void {
    const news = this.#outputs.add(output);
    if (news !== null) {
      this.#showCalls();
      this.#sink.output(output.call_id, news.text, news.missing);
    }
  }

  #reason(live: LiveEvent): void {
    const piece = this.#reasoning.of(live);
    if (piece !== null) {
      this.#showCalls();
      this.#sink.reasoning(piece.message_id, piece.text);
    }
  }

  #text(message_id: string, piece: string): void {
    this.#showCalls();
    if (this.#arriving !== message_id) {
      this.end();
    }
    this.#arriving = message_id;
    this.#sink.text(message_id, piece);
  }

  #stored(message: ShownMessage): void {
    const { message_id, call_id, role, tool_calls } = message;
    if (role === "tool") {
      const call = this.#calls.get(call_id ?? "");
      this.#outputs.forget(call_id ?? "");
      if (call !== undefined) {
        this.#calls.set(call.id, { ...call, isShown: true, isOver: true });
      }
      this.#sink.result(message, call ?? null);
      return;
    }
    const hasArrived = message_id === this.#arriving;
    if (hasArrived) {
      this.#arriving = null;
      this.#sink.textEnd(message_id, false);
    }
    this.#sink.message(message, hasArrived);
    for (const call of tool_calls ?? []) {
      const {
        duration_ms = null,
        isShown = false,
        isOver = false,
      } = this.#calls.get(call.id) ?? {};
      this.#calls.set(call.id, { ...call, duration_ms, isShown: true, isOver: false });
      if (!isShown || isOver) {
        this.#sink.call(call);
      }
    }
  }

  #know({ call_id: id, name, args, effect, subject, duration_ms }: LiveCall): void {
    const { isShown = false, isOver = false } = this.#calls.get(id) ?? {};
    this.#calls.set(id, { id, name, args, effect, subject, duration_ms, isShown, isOver });
  }

  #showCalls(): void {
    for (const [id, call] of this.#calls) {
      if (!call.isShown && !call.isOver) {
        this.#calls.set(id, { ...call, isShown: true });
        const { name, args, effect, subject } = call;
        this.#sink.call({ id, name, args, effect, subject });
      }
    }
  }
}

type LiveCall = Extract<LiveEvent, { event: "tool_call" }>["data"];

import type { LiveEvent, MessageInfo } from "../../src/entries/client.ts";

/** Lines of a call's output that are kept, with the empty one at the end. */
const OUTPUT_LINES = 21;

type DataOf<Name extends LiveEvent["event"]> = Extract<LiveEvent, { event: Name }>["data"];
type Snapshot = DataOf<"snapshot">;

/** The text of an answer, as far as it has arrived. */
export interface ArrivingText {
  readonly message_id: string;
  readonly attempt: number;
  readonly text: string;
  /** Code points of `text`. */
  readonly points: number;
}

/** What a session does now, made of the events of its live feed. Messages are not part of it. */
export interface SessionState extends Omit<Snapshot, "text" | "last_seq"> {
  /** The position after the last event; empty if the service was asked without a stream. */
  readonly id: string;
  /** Of the last message: earlier ones are read over HTTP, later ones come as events. */
  readonly seq: number;
  readonly text: ArrivingText | null;
}

/**
 * The state after an event as `follow` passes it on: a `snapshot` has the whole text, and replaces all that was known.
 * Null until the first snapshot.
 */
export function foldSession(state: SessionState | null, event: LiveEvent): SessionState | null {
  if (event.event === "snapshot") {
    const { text, last_seq, ...rest } = event.data;
    return { ...rest, id: event.id, seq: last_seq, text: text === null ? null : begun(text) };
  }
  return state === null ? null : { ...changed(state, event), id: event.id };
}

function changed(
  state: SessionState,
  event: Exclude<LiveEvent, { event: "snapshot" }>,
): SessionState {
  switch (event.event) {
    case "reasoning":
      return { ...state, reasoning: withReasoning(state.reasoning, event.data) };
    case "text":
      return { ...state, text: joined(state.text, event.data) };
    case "reset":
      return state.text?.message_id === event.data.message_id ? { ...state, text: null } : state;
    case "message":
      return afterMessage(state, event.data);
    case "exchange":
      return afterExchange(state, event.data);
    case "question":
      return { ...state, questions: withQuestion(state.questions, event.data) };
    case "tool_call":
      return { ...state, calls: withCall(state.calls, event.data) };
    case "output":
      return { ...state, outputs: withOutput(state.outputs, event.data) };
    case "usage":
      return { ...state, usage: event.data };
    case "retry":
      return {
        ...state,
        retry: event.data,
        reasoning: event.data === null ? state.reasoning : null,
      };
    case "phase":
      return state;
  }
}

/** The snapshot that gives its reader this state. */
export function snapshotOf(state: SessionState): Extract<LiveEvent, { event: "snapshot" }> {
  const { id, seq, text, ...rest } = state;
  const whole =
    text === null
      ? null
      : { message_id: text.message_id, attempt: text.attempt, offset: 0, text: text.text };
  return { id, event: "snapshot", data: { ...rest, text: whole, last_seq: seq } };
}

/**
 * What the service's snapshot makes of the state of a reader that continues: its text continues what had arrived, and
 * the messages after the reader's last one come later.
 */
export function resumedState(
  state: SessionState | null,
  event: Extract<LiveEvent, { event: "snapshot" }>,
): SessionState {
  const { text, last_seq, ...rest } = event.data;
  return {
    ...rest,
    id: event.id,
    seq: state?.seq ?? last_seq,
    text: text === null ? (state?.text ?? null) : joined(state?.text ?? null, text),
  };
}

/** False for a message that a snapshot has counted already. An answer that replaces one that broke off is news. */
export function isNews(state: SessionState | null, message: MessageInfo): boolean {
  return state === null || message.seq > state.seq || state.text?.message_id === message.message_id;
}

function begun({ message_id, attempt, text }: NonNullable<Snapshot["text"]>): ArrivingText {
  return { message_id, attempt, text, points: codePoints(text) };
}

/** Puts a piece at the offset that it names: one that comes again changes nothing. */
function joined(before: ArrivingText | null, piece: NonNullable<Snapshot["text"]>): ArrivingText {
  if (before === null || before.message_id !== piece.message_id || piece.offset === 0) {
    return begun(piece);
  }
  const kept =
    piece.offset >= before.points
      ? before.text
      : Array.from(before.text).slice(0, piece.offset).join("");
  const points = Math.min(before.points, piece.offset) + codePoints(piece.text);
  return { ...begun(piece), text: kept + piece.text, points };
}

/** As in `src/core/text/code-points.ts`, which the public client has not: it would be larger for all programs. */
function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    count -= unit >= 0xdc00 && unit <= 0xdfff ? 1 : 0;
  }
  return count;
}

function afterMessage(state: SessionState, message: MessageInfo): SessionState {
  const { seq, message_id, call_id, role } = message;
  return {
    ...state,
    seq: Math.max(state.seq, seq),
    text: state.text?.message_id === message_id ? null : state.text,
    reasoning: state.reasoning?.message_id === message_id ? null : state.reasoning,
    // the last lines stay until something follows the results
    outputs: role === "tool" ? state.outputs : [],
    // a call that asked a person has no other end
    calls: state.calls.filter((call) => call.call_id !== call_id || call.status !== "running"),
  };
}

function afterExchange(state: SessionState, exchange: DataOf<"exchange">): SessionState {
  const isSame = state.exchange?.n === exchange.n;
  if (exchange.state === "running" && isSame) {
    return { ...state, exchange };
  }
  // what a call had printed that was stopped has no other place
  const outputs = isSame ? state.outputs : [];
  return { ...state, exchange, outputs, calls: [], usage: null, retry: null, reasoning: null };
}

function withReasoning(
  before: SessionState["reasoning"],
  { message_id, text }: DataOf<"reasoning">,
): SessionState["reasoning"] {
  return { message_id, text: before?.message_id === message_id ? before.text + text : text };
}

/** Adds lines to those of a call; the oldest ones go. */
function withOutput(
  outputs: SessionState["outputs"],
  now: DataOf<"output">,
): SessionState["outputs"] {
  const before = outputs.find(({ call_id }) => call_id === now.call_id);
  const text = (before?.text ?? "") + now.text;
  const last = { ...now, text: text.split("\n").slice(-OUTPUT_LINES).join("\n") };
  return [...outputs.filter((output) => output !== before), last];
}

function withQuestion(
  questions: SessionState["questions"],
  question: DataOf<"question">,
): SessionState["questions"] {
  const others = questions.filter(({ id }) => id !== question.id);
  return question.state === "open" ? [...others, question] : others;
}

/** The calls are those of one answer. */
function withCall(calls: SessionState["calls"], call: DataOf<"tool_call">): SessionState["calls"] {
  const same = calls.filter(({ message_id }) => message_id === call.message_id);
  return same.some(({ call_id }) => call_id === call.call_id)
    ? same.map((before) => (before.call_id === call.call_id ? call : before))
    : [...same, call];
}

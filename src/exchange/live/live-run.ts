import { codePoints } from "../../core/text/code-points.ts";
import type { LiveCall, LiveReasoning, LiveState } from "../../core/live/live-state.ts";
import type { ForgetLive, LiveOutcome, LiveWrite } from "../../store/records/live/store-live.ts";
import type { ExchangeEvent } from "../events.ts";
import { OutputLines } from "./output-lines.ts";

/** The exchange that a process runs, and the lease under which it does. */
export interface BegunRun {
  readonly n: number;
  readonly epoch: number;
  /** By those that ran the exchange before; nothing for one that is new. */
  readonly used?: LiveState["usage"];
}

/** Part of an exchange of this process that arrives now. */
export interface LiveCurrent {
  readonly n: number;
  /** As of `LiveAnswer`. */
  readonly attempt: number;
  readonly revision: number;
  readonly state: LiveState;
  /** Null between two answers. */
  readonly message_id: string | null;
  /** All that has arrived of the answer. It ends between two code points. */
  readonly text: string;
}

interface Arriving {
  readonly message_id: string;
  text: string;
  /** Length of what is stored of it, in UTF-16 units and in code points. */
  stored: { readonly units: number; readonly points: number };
}

/** Characters of the JSON of a call's arguments that the state shows, and of the arguments of all calls. */
const ARGS_CHARACTERS = 4096;
const ALL_ARGS_CHARACTERS = 65_536;
/** Calls that the state shows; more are answered all the same. */
const MAX_CALLS = 128;
/** Calls whose output the state shows, those that printed last: commands run one after the other, calls of servers do not. */
const MAX_OUTPUTS = 8;

/**
 * Run of an exchange, as its events describe it. Follows one answer at a time, the one that began last: of models
 * that write side by side, the others' text is shown when it is stored.
 */
export class LiveRun {
  readonly #begun: BegunRun;
  readonly session_id: string;
  #state: LiveState;
  #revision = 0;
  #storedRevision = 0;
  #arriving: Arriving | null = null;
  /** Answers whose text is void, or left to the message that stores it. */
  readonly #left = new Set<string>();
  /** Answers whose reasoning is shown no more. */
  readonly #thought = new Set<string>();
  /** Answers whose text is stored although no message may hold it: the agent kept it to itself. */
  readonly #unclaimed = new Set<string>();
  /** Lines of calls whose result is not stored, the call that printed last at the end. */
  readonly #outputs = new Map<string, OutputLines>();
  #isOver = false;
  #hasStored = false;

  constructor(session_id: string, begun: BegunRun) {
    this.session_id = session_id;
    this.#begun = begun;
    const { used = { input_tokens: 0, output_tokens: 0 } } = begun;
    this.#state = { calls: [], outputs: [], usage: used, retry: null, reasoning: null };
  }

  get fence() {
    return { session_id: this.session_id, epoch: this.#begun.epoch };
  }

  /** Returns what is to be removed from the database once the exchange is over. */
  get leftovers(): ForgetLive {
    return { ...this.fence, message_ids: [...this.#unclaimed] };
  }

  /** True if the database may hold something of it. */
  get hasStored(): boolean {
    return this.#hasStored;
  }

  get current(): LiveCurrent {
    const { n, epoch: attempt } = this.#begun;
    const { message_id = null, text = "" } = this.#arriving ?? {};
    return { n, attempt, revision: this.#revision, state: this.#state, message_id, text };
  }

  /** True if something changed that readers see. */
  heard(event: ExchangeEvent): boolean {
    switch (event.type) {
      case "reasoning":
        return this.#onReasoning(event);
      case "text":
        return this.#onText(event);
      case "message":
        return this.#onMessage(event);
      case "tool_call":
        return this.#change({ calls: withCall(this.#state.calls, event), retry: null });
      case "tool_result":
        return this.#change({ calls: withResult(this.#state.calls, event) });
      case "usage": {
        const { usage } = this.#state;
        return this.#change({
          usage: {
            input_tokens: usage.input_tokens + event.input_tokens,
            output_tokens: usage.output_tokens + event.output_tokens,
          },
        });
      }
      case "retry": {
        if (this.#arriving?.message_id === event.message_id) {
          this.#leave();
        }
        const { attempt, code, reason } = event;
        const until = new Date(Date.now() + event.delay_ms).toISOString();
        return this.#change({ retry: { attempt, code, reason, until }, reasoning: null });
      }
      case "done":
        this.#keepToItself();
        this.#isOver = true;
        return true;
      case "stopped":
      case "waiting":
      case "failed":
        this.#isOver = true;
        return true;
      default:
        return false;
    }
  }

  /** Adds whole lines that a call has printed. Readers see them after `showOutputs`. */
  printed(call_id: string, text: string): void {
    // an exchange that continues after a question has no event of the calls that it runs then
    const { status = "running" } = this.#state.calls.find((call) => call.call_id === call_id) ?? {};
    if (status === "running" && text !== "") {
      const lines = this.#outputs.get(call_id) ?? new OutputLines(call_id);
      lines.add(text);
      this.#outputs.delete(call_id);
      this.#outputs.set(call_id, lines);
    }
  }

  /** True if calls have printed anything that is shown now. */
  showOutputs(): boolean {
    if (this.#outputs.size === 0 || this.#isOver) {
      return false;
    }
    const last = [...this.#outputs.values()].slice(-MAX_OUTPUTS);
    return this.#change({ outputs: last.map(({ value }) => value) });
  }

  #onMessage({ message_id, call_id }: EventOf<"message">): boolean {
    this.#unclaimed.delete(message_id);
    if (call_id !== null && this.#outputs.delete(call_id)) {
      // the result is stored, which readers are sent before this state
      const { outputs = [] } = this.#state;
      this.#change({ outputs: outputs.filter((output) => output.call_id !== call_id) });
    }
    const isText = this.#arriving?.message_id === message_id;
    if (isText) {
      this.#leave();
    }
    if (this.#state.reasoning?.message_id === message_id) {
      return this.#change({ reasoning: null });
    }
    return isText && this.#change({});
  }

  #onReasoning({ message_id, text }: LiveReasoning): boolean {
    if (this.#left.has(message_id) || this.#thought.has(message_id)) {
      return false;
    }
    const { reasoning } = this.#state;
    if (reasoning !== null && reasoning.message_id !== message_id) {
      this.#thought.add(reasoning.message_id);
    }
    const before = reasoning?.message_id === message_id ? reasoning.text : "";
    return this.#change({ reasoning: { message_id, text: before + text }, retry: null });
  }

  #onText({ message_id, text }: { readonly message_id: string; readonly text: string }): boolean {
    if (this.#left.has(message_id)) {
      return false;
    }
    if (this.#arriving?.message_id !== message_id) {
      this.#keepToItself();
      this.#arriving = { message_id, text: "", stored: { units: 0, points: 0 } };
      this.#change({ retry: null });
    }
    this.#arriving.text += text;
    return true;
  }

  /** Another text begins, or the exchange is done, and this one was neither stored nor voided. */
  #keepToItself(): void {
    if (this.#arriving !== null) {
      this.#unclaimed.add(this.#arriving.message_id);
    }
    this.#leave();
  }

  #leave(): void {
    if (this.#arriving !== null) {
      this.#left.add(this.#arriving.message_id);
      this.#arriving = null;
    }
  }

  #change(change: Partial<LiveState>): true {
    this.#state = { ...this.#state, ...change };
    this.#revision += 1;
    return true;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** True if the database has all that readers see. */
  get isStored(): boolean {
    const arriving = this.#arriving;
    return (
      this.#isOver ||
      (this.#storedRevision === this.#revision &&
        (arriving === null || arriving.stored.units === arriving.text.length))
    );
  }

  /** Returns what is not stored yet, and what to do once it is. */
  write(): { readonly write: LiveWrite; readonly written: (outcome: LiveOutcome) => void } {
    const arriving = this.#arriving;
    const revision = this.#revision;
    const { message_id, state } = this.current;
    const from = arriving?.stored ?? { units: 0, points: 0 };
    const text = arriving?.text.slice(from.units) ?? "";
    this.#hasStored = true;
    return {
      write: {
        ...this.fence,
        n: this.#begun.n,
        piece:
          arriving === null || text === ""
            ? null
            : { message_id: arriving.message_id, position: from.points, text },
        state:
          revision === this.#storedRevision
            ? null
            : { revision, message_id, value: JSON.stringify(state) },
      },
      written: (outcome) => {
        if (outcome === "stored") {
          this.#storedRevision = revision;
          if (arriving !== null) {
            const units = from.units + text.length;
            arriving.stored = { units, points: from.points + codePoints(text) };
          }
        }
      },
    };
  }
}

type EventOf<Type> = Extract<ExchangeEvent, { readonly type: Type }>;

/** Adds a call; those of earlier answers go once they have a result. */
function withCall(calls: readonly LiveCall[], event: EventOf<"tool_call">): readonly LiveCall[] {
  const { call_id, message_id, name, effect, subject } = event;
  const kept = calls.filter(
    (call) =>
      call.call_id !== call_id && (call.message_id === message_id || call.status === "running"),
  );
  if (kept.length >= MAX_CALLS) {
    return kept;
  }
  const length = JSON.stringify(event.args ?? null).length;
  const all = kept.reduce((sum, { args }) => sum + JSON.stringify(args ?? null).length, length);
  const isShown = length <= ARGS_CHARACTERS && all <= ALL_ARGS_CHARACTERS;
  const args = isShown ? event.args : null;
  const facts = { effect, subject, status: "running", duration_ms: null } as const;
  return [...kept, { call_id, message_id, name, args, ...facts }];
}

function withResult(
  calls: readonly LiveCall[],
  { call_id, status, duration_ms }: EventOf<"tool_result">,
): readonly LiveCall[] {
  return calls.map((call) => (call.call_id === call_id ? { ...call, status, duration_ms } : call));
}

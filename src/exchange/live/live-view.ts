import type { LiveState } from "../../core/live/live-state.ts";
import type { RunPhase } from "../../core/schemas/plan-run-schemas.ts";
import type { ExchangeInfo, QuestionInfo, SessionSummary } from "../../core/schemas/schemas.ts";
import type { Message } from "../../core/sessions.ts";
import type { ReadPhases } from "../../store/records/live/read-live-feed.ts";

/** Text that arrives now: the part of a running exchange that no message holds. */
export interface LiveText {
  readonly n: number;
  /** Rises whenever the exchange begins again in another process: in one, the text only grows. */
  readonly attempt: number;
  /** Null between two answers. */
  readonly message_id: string | null;
  /** All that has arrived of the answer. It ends between two code points. */
  readonly text: string;
}

/** A session in one consistent state, as far as a reader at a position needs it. */
export interface LiveView {
  readonly session: SessionSummary;
  /** After the reader's position, ascending. */
  readonly messages: readonly Message[];
  /** True if more messages follow: then the rest of the view waits. */
  readonly more: boolean;
  /** The stored message that the reader has a part of, wherever it is; one that broke off may be replaced. */
  readonly answer: Message | null;
  readonly exchange: ExchangeInfo | null;
  /** Questions that are open. */
  readonly questions: readonly QuestionInfo[];
  /** Returns how a question ended that was open before; null if it is gone. */
  readonly ended: (id: string) => QuestionInfo | null;
  /** Null unless an exchange runs. */
  readonly live: LiveText | null;
  readonly state: LiveState | null;
  /** Phases of the run, in the order of its plan; none in a session that runs no plan. */
  readonly phases: readonly LivePhase[];
}

/** A phase, and its JSON, which is compared with what a reader was shown. */
export interface LivePhase {
  readonly phase: RunPhase;
  readonly json: string;
}

/** For readers that show no phases. */
export const NO_PHASES: ReadPhases = () => Promise.resolve([]);

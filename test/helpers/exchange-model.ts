import { type ExchangeState, isFinal, MAX_ATTEMPTS } from "../../src/core/exchanges.ts";
import type { QuestionState } from "../../src/core/questions.ts";

/** What the model knows of one record, in the state that readers see. */
export interface ModelRecord {
  state: ExchangeState;
  /** True if a node continues it by itself once its process is dead. */
  isOfService: boolean;
  hasBegun: boolean;
  isStopAsked: boolean;
  attempts: number;
  /** A message that goes to the agent when it begins. */
  content: string | null;
  key: string | null;
}

export interface ModelQuestion {
  readonly id: string;
  state: QuestionState;
}

export type End = "done" | "failed" | "stopped" | "waiting" | "interrupted" | "queued";

/**
 * What has to become of the exchanges of one session. A method returns the number of an exchange, or
 * the code of the error with which the act is refused.
 */
export class ExchangeModel {
  readonly records: ModelRecord[] = [];
  readonly questions: ModelQuestion[] = [];
  hasEnded = false;
  /** True while a process has the lease for the exchange that runs. */
  isHeld = false;
  /** True if the last exchange left something to continue. */
  isOpen = false;
  /** No checkpoint takes a message here, so each waits until it is archived. */
  isPending = false;

  queue(content: string | null, key: string | null, supersede = false): number | string {
    const earlier = this.records.findIndex((record) => key !== null && record.key === key);
    if (earlier >= 0) {
      return earlier + 1;
    }
    if (this.hasEnded) {
      return "session_ended";
    }
    const begun = this.begun();
    if (content === null) {
      const again = this.queueAgain(begun, key);
      if (again !== null) {
        return again;
      }
    } else {
      if (begun?.state === "interrupted" && !begun.isOfService) {
        this.stopBegun();
      }
      if (supersede && (begun?.state === "waiting" || this.hasOpenQuestion())) {
        if (begun?.state === "running") {
          begun.isStopAsked = true;
        } else {
          this.stopBegun();
        }
        this.withdraw();
      }
    }
    this.records.push({ ...NEW, state: "queued", isOfService: true, content, key });
    return this.records.length;
  }

  private queueAgain(begun: ModelRecord | undefined, key: string | null): number | string | null {
    if (begun?.state === "waiting" || begun?.state === "interrupted") {
      if (begun.state === "waiting" && this.hasOpenQuestion()) {
        return "question_open";
      }
      begun.key ??= key;
      begun.state = "queued";
      begun.isOfService = true;
      begun.isStopAsked = false;
      return this.records.indexOf(begun) + 1;
    }
    const hasMore = this.isOpen || this.isPending;
    return this.records.some(({ state }) => !isFinal(state)) || !hasMore
      ? "nothing_to_continue"
      : null;
  }

  /** The number of the exchange that a node runs next; null if there is none. */
  ready(): number | null {
    if (this.hasEnded || this.begun() !== undefined) {
      return null;
    }
    const queued = this.records.filter(({ state }) => state === "queued");
    const next = queued.find(({ hasBegun }) => hasBegun) ?? queued[0];
    return next === undefined ? null : this.records.indexOf(next) + 1;
  }

  claim(n: number): void {
    const record = this.at(n);
    if (record.content !== null) {
      this.withdrawIf(this.isOpen);
      this.isPending = true;
    }
    this.run(record);
    record.content = null;
  }

  change(n: number, content: string): string | null {
    const record = this.at(n);
    if (record.state !== "queued" || record.hasBegun) {
      return "exchange_begun";
    }
    record.content = content;
    return null;
  }

  withdrawExchange(n: number): string | null {
    const { state, hasBegun } = this.at(n);
    return state === "queued" && !hasBegun ? this.stop(n) : "exchange_begun";
  }

  stop(n: number): string | null {
    const record = this.at(n);
    if (isFinal(record.state)) {
      return "exchange_ended";
    }
    if (record.state === "running") {
      record.isStopAsked = true;
    } else {
      record.state = "stopped";
      this.withdrawIf(record.hasBegun);
    }
    return null;
  }

  /** A terminal begins or continues; the number of the record, null for none. */
  type(content: string | null): number | null {
    this.settle();
    const given =
      this.begun() ?? this.records.find(({ state, hasBegun }) => state === "queued" && hasBegun);
    if (content === null && this.isOpen && given !== undefined) {
      given.isOfService = false;
      this.run(given);
      return this.records.indexOf(given) + 1;
    }
    if (content === null && !this.isOpen && !this.isPending) {
      return null;
    }
    this.stopBegun();
    this.withdrawIf(content !== null && this.isOpen);
    this.isPending ||= content !== null;
    this.records.push({ ...NEW, state: "running" });
    this.run(this.at(this.records.length));
    return this.records.length;
  }

  /** Whatever takes the lease: the process of what had begun has lost it. */
  settle(): void {
    const begun = this.begun();
    if (begun?.isStopAsked === true) {
      begun.state = "stopped";
      this.withdraw();
    }
  }

  /** The process that runs it gives the lease back. */
  end(end: End, finished: boolean): void {
    const record = this.begun();
    if (record === undefined) {
      throw new Error("no exchange runs");
    }
    this.isHeld = false;
    this.isOpen = !finished;
    const isStopped = record.isStopAsked && !isFinal(end);
    const isAnswered =
      !this.hasOpenQuestion() && this.questions.some(({ state }) => state === "answered");
    if (isStopped) {
      record.state = "stopped";
    } else {
      record.state = end === "waiting" && isAnswered ? "queued" : end;
    }
    if (record.state === "interrupted") {
      record.isOfService = false;
    } else if (record.state === "queued") {
      record.isOfService = true;
    }
    this.withdrawIf(record.state === "stopped");
  }

  die(): void {
    this.isHeld = false;
    for (const record of this.records.filter(({ state }) => state === "running")) {
      record.state = "interrupted";
    }
  }

  /** A node finds what dead processes left. */
  revive(): void {
    const record = this.begun();
    if (this.isHeld || record?.state !== "interrupted" || !record.isOfService) {
      return;
    }
    record.attempts += 1;
    if (record.isStopAsked) {
      record.state = "stopped";
      this.withdraw();
    } else {
      record.state = record.attempts < MAX_ATTEMPTS ? "queued" : "failed";
    }
  }

  answer(id: string, continues: boolean): string | null {
    const question = this.questions.find((each) => each.id === id);
    if (this.hasEnded) {
      return "session_ended";
    }
    if (question?.state !== "open") {
      return `question_${question?.state}`;
    }
    question.state = "answered";
    const begun = this.begun();
    if (!continues && begun?.state === "waiting" && !this.hasOpenQuestion()) {
      begun.state = "queued";
      begun.isOfService = true;
    }
    return null;
  }

  freshThread(isClear: boolean): void {
    this.stopBegun();
    this.withdraw();
    this.isOpen = false;
    if (isClear) {
      this.isPending = false;
      this.stopAll();
    }
  }

  endSession(): void {
    this.withdraw();
    this.stopAll();
    this.hasEnded = true;
    this.isHeld = false;
    this.isOpen = false;
  }

  begun(): ModelRecord | undefined {
    return this.records.find(isBegun);
  }

  private at(n: number): ModelRecord {
    const record = this.records[n - 1];
    if (record === undefined) {
      throw new Error(`no record ${n}`);
    }
    return record;
  }

  private run(record: ModelRecord): void {
    record.state = "running";
    record.hasBegun = true;
    record.isStopAsked = false;
    this.isHeld = true;
    this.isOpen = true;
  }

  private stopBegun(): void {
    for (const record of this.records) {
      if (isBegun(record) || (record.state === "queued" && record.hasBegun)) {
        record.state = "stopped";
      }
    }
  }

  private stopAll(): void {
    for (const record of this.records) {
      record.state = isFinal(record.state) ? record.state : "stopped";
    }
  }

  private withdrawIf(condition: boolean): void {
    if (condition) {
      this.withdraw();
    }
  }

  private withdraw(): void {
    if (!this.hasOpenQuestion()) {
      return;
    }
    for (const question of this.questions) {
      question.state = question.state === "open" ? "withdrawn" : question.state;
    }
    for (const record of this.records) {
      record.state = record.state === "waiting" ? "stopped" : record.state;
    }
  }

  private hasOpenQuestion(): boolean {
    return this.questions.some(({ state }) => state === "open");
  }
}

const NEW = {
  isOfService: false,
  hasBegun: false,
  isStopAsked: false,
  attempts: 0,
  content: null,
  key: null,
} as const;

function isBegun({ state }: ModelRecord): boolean {
  return state !== "queued" && !isFinal(state);
}

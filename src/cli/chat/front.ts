import type { LiveEvent } from "../../core/schemas/live.ts";
import type { Live } from "../../exchange/exchanger.ts";
import type { ExchangeEvent, ExchangeResult } from "../../exchange/events.ts";
import type { OpenQuestion } from "../../store/records/questions/read.ts";
import type { Offered } from "./allow-in-config.ts";
import type { FileChangeInfo } from "../../core/schemas/file-change-schemas.ts";
import type { ModelInfo } from "../../core/schemas/service-schemas.ts";
import type { Message } from "../../core/sessions.ts";
import type { CommandUsage } from "./command-usage.ts";
import type { Greeting } from "./greeting.ts";
import type { PickedRewind, RewindSource } from "../output/rewind-choices.ts";
import type { GivenAnswer } from "../output/question-lines.ts";

/** How a person sees a session, and how what they type comes in: lines, or a screen. */
export interface Front {
  /** Aborted when the program is asked to leave: SIGTERM, SIGHUP. */
  readonly leaving: AbortSignal;
  /** The rows of `/help`. */
  help(commands: readonly CommandUsage[]): readonly string[];
  /** Shows what a session begins with. */
  greet(greeting: Greeting): Promise<void>;
  /** Shows the end of the session again, on a screen. */
  replay(): Promise<void>;
  /** The next thing that happened, in order; after `end` it stays `end`. `news` once that is aborted. */
  next(news?: AbortSignal): Promise<InputEvent>;
  /** While the callback is set, an interrupt goes to it instead of into the queue. */
  onInterrupt(callback: (() => void) | null): void;
  /** Messages that were typed and not asked for yet. */
  waiting(): number;
  /** Drops them, and returns how many lines they had. */
  drop(): number;
  /**
   * Puts a message that was not sent back into the prompt, with those that wait after it and what is being written;
   * only these for null.
   */
  giveBack(message: Typed | null): void;
  /** True only for a yes that was typed after the question was shown. */
  confirm(question: string): Promise<boolean>;
  /** Null if the person leaves the question open, and once it is over. `next`: another one is to be asked first. */
  ask(asked: Asked): Promise<GivenAnswer | "next" | null>;
  /** Leaves the terminal to another program until the work is done. */
  outside<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Lets a person choose a message to go back to, and what is done then; null if they leave. */
  rewind(source: RewindSource): Promise<PickedRewind | null>;
  /** Shows the n-th tool call in full until the person leaves it, the last one for null; else says why it cannot. */
  showDetails(n: number | null): Promise<string | null>;
  /** Lets a person choose one of these models, and returns null if they leave; null without a list to choose from. */
  readonly pickModel: PickModel | null;
  /** Lets a person choose a session, and returns its id, or null if they leave; null without a list to choose from. */
  readonly pickSession: (() => Promise<string | null>) | null;
  /** Shows changes of files until the person leaves them; null if lines are printed in its place. */
  readonly showDiff: ShowDiff | null;
  /**
   * Shows that a command of the person runs, until what it returns is called; `canStop` if an interrupt ends it.
   */
  working(text: string, canStop: boolean): () => void;
  /** Shows an exchange of this process from now on. */
  view(): Promise<ExchangeView>;
  /** Shows an exchange of another process from now on. */
  follow(): Promise<FollowView>;
  /** Discards what is left in a terminal and resets it. */
  close(): Promise<void>;
}

export type PickModel = (
  models: readonly ModelInfo[],
  current: string | null,
) => Promise<PickedModel | null>;

export type ShowDiff = (title: string, changes: readonly FileChangeInfo[]) => Promise<void>;

export interface PickedModel {
  readonly model: string;
  /** Whether it continues the conversation; else the context is fresh. */
  readonly keeps: boolean;
}

export interface Asked {
  readonly question: OpenQuestion;
  readonly offered: Offered;
  /** The folder of the session; null if it has none. */
  readonly folder: string | null;
  /** Address of the session in the page of a service that runs here; null for none. */
  readonly page: string | null;
  /** Aborted when somebody else has answered it, or nobody can any more. */
  readonly over: AbortSignal;
  /** Its place among the open questions, from 1. */
  readonly place: { readonly index: number; readonly count: number };
}

/** An exchange while it runs. */
export interface ExchangeView {
  show(event: ExchangeEvent): void;
  /** Shows what a command prints while it runs; null if that is not shown. */
  readonly output: NonNullable<Live["onOutput"]> | null;
  /** Whether a tool has changed files. */
  hasChangedFiles(): boolean;
  /** Shows what the exchange changed. */
  showChanges(lines: readonly string[]): void;
  finish(result: ExchangeResult): Promise<void>;
  /** Ends the view of an exchange that failed; the error comes next. */
  fail(): Promise<void>;
}

/** An exchange of another process. */
export interface FollowView {
  show(event: LiveEvent): void;
  showMessage(message: Message): void;
  /** Nothing more of it is shown. */
  end(): void;
}

/** A message as it was written. */
export interface Typed {
  /** From a terminal it may have several lines. */
  readonly text: string;
  /** Pasted text is never a command. */
  readonly pasted: boolean;
}

export type InputEvent =
  | (Typed & {
      readonly kind: "line";
      /** Whether the terminal has shown it. */
      readonly shown: boolean;
    })
  /** A line that is not UTF-8. */
  | { readonly kind: "unreadable" }
  /** A line that is larger than a message may be; nothing comes after it. */
  | { readonly kind: "too_large" }
  /** Ctrl-C at the prompt, and how many lines it dropped that were typed or waited. */
  | { readonly kind: "interrupt"; readonly dropped: number }
  /** The caller has something to show first. */
  | { readonly kind: "news" }
  /** End of file, or the terminal went away. */
  | { readonly kind: "end" };

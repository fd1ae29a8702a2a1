/** One attempt to read a stream. */
export interface Attempt {
  readonly signal: AbortSignal;
  /** Called for each answer of the service that begins a stream. */
  readonly onOpen: () => void;
}

/**
 * What can be followed, and how it is read. A state is what a tab knows; the events are those that every tab gets, from
 * whichever tab reads them.
 */
export interface Feed<State, Event> {
  /**
   * The events after the state, until nothing is left. Each is part of `state()` before the next one is read. Throws
   * the ClientError of a connection that failed.
   */
  read(state: () => State | null, attempt: Attempt): AsyncGenerator<Event, void>;
  /** What is new, read without a stream. Throws a ClientError. */
  poll(from: State | null): Promise<readonly Event[]>;
  /**
   * What a stream does not say, read beside it: returns the events that the state of then needs. Throws if the service
   * or its database is away.
   */
  check(): Promise<(state: State | null) => readonly Event[]>;
  /** True if what the event says may need a check at once. */
  needsCheck(event: Event): boolean;
  fold(state: State | null, event: Event): State | null;
  /** What brings a reader that knows nothing to the state. */
  begin(state: State): Event;
  /**
   * What brings a tab over an event of another tab that may continue elsewhere: the event alone, or with what is
   * missing before it. Null if the other tab has seen less and catches up. Throws a ClientError.
   */
  arrive(mine: State | null, event: Event): readonly Event[] | Promise<readonly Event[] | null>;
}

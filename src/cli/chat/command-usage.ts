/** A command of a session, as `/help` and the completion show it. */
export interface CommandUsage {
  readonly name: string;
  /** Such as `<persona>` or `on|off`; every one may be left out. */
  readonly argument?: string;
  /** Line of at most 50 columns. */
  readonly help: string;
  /** Text of at most 28 columns, for narrow terminals; needed if `help` is longer. */
  readonly brief?: string;
  /** Sentence below the list of what it takes: what happens with the one that is chosen. */
  readonly note?: string;
}

/** `/plan on|off` */
export function usageOf({ name, argument }: CommandUsage): string {
  return argument === undefined ? `/${name}` : `/${name} ${argument}`;
}

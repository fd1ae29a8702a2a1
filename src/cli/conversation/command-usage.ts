/** A command of a session, as `/help` and the completion show it. */
export interface CommandUsage {
  readonly name: string;
  /** Such as `<persona>` or `on|off`; every one may be left out. */
  readonly argument?: string;
  /** One line, of at most 50 columns. */
  readonly help: string;
}

/** `/plan on|off` */
export function usageOf({ name, argument }: CommandUsage): string {
  return argument === undefined ? `/${name}` : `/${name} ${argument}`;
}

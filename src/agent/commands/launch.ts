/** What is given to the system to start a program. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  /** An absolute path. */
  readonly cwd: string;
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** A program and its arguments, or a line for a shell. */
export type Command =
  | { readonly kind: "argv"; readonly argv: readonly string[] }
  | { readonly kind: "line"; readonly line: string };

/** Starts a command through `/bin/sh`, which puts both of its outputs into one, in their order, unless they are `apart`. */
export function launchOf(
  command: Command,
  { apart, ...place }: Pick<Launch, "cwd" | "env"> & { readonly apart: boolean },
): Launch {
  const argv = command.kind === "argv" ? command.argv : ["/bin/sh", "-c", "--", command.line];
  const start = apart ? 'exec "$@"' : 'exec "$@" 2>&1';
  return { ...place, file: "/bin/sh", args: ["-c", start, "reprise", ...argv] };
}

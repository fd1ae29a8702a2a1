/**
 * Events for which commands of the user run. Names, moments and input are those of Claude Code, so that its hooks run
 * unchanged: "Hooks reference" of its documentation, code.claude.com/docs/en/hooks, sections "Hook events" and
 * "Hook input and output".
 */
export const HOOK_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "Notification",
  "Stop",
  "SessionEnd",
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** A command that runs at an event. */
export interface Hook {
  readonly event: HookEvent;
  /** See `matches`; null for always. */
  readonly match: string | null;
  /** A line for `/bin/sh`. */
  readonly command: string;
  readonly timeoutMs: number;
  /** False if the user's own config lets it run without a sandbox. */
  readonly isConfined: boolean;
}

/** Time that a hook may take: "Hook execution details" of Claude Code's reference has the same default. */
export const HOOK_TIMEOUT = { default: 60_000, max: 600_000 } as const;

/** A hook as a config has it. */
export interface HookText {
  readonly match?: string;
  readonly command?: string;
  readonly timeout_ms?: number;
  readonly sandbox?: boolean;
}

export type HookTexts = Readonly<Partial<Record<HookEvent, readonly HookText[]>>>;

/** Returns the hooks of a part of a config, in the order of the events. */
export function hooksOf(texts: HookTexts = {}): readonly Hook[] {
  return HOOK_EVENTS.flatMap((event) =>
    (texts[event] ?? []).flatMap(({ match, command, timeout_ms, sandbox }) =>
      command === undefined
        ? []
        : {
            event,
            match: match ?? null,
            command,
            timeoutMs: timeout_ms ?? HOOK_TIMEOUT.default,
            isConfined: sandbox ?? true,
          },
    ),
  );
}

/** A hook for a person, such as `PreToolUse Bash: ./guard.py`. Its command may have any characters. */
export function hookLine({ event, match, command, isConfined }: Hook): string {
  const about = match === null ? "" : ` ${match}`;
  return `${event}${about}: ${command}${isConfined ? "" : " (without a sandbox)"}`;
}

import { oneLine } from "../../core/text/terminal-text.ts";
import type { Hook, HookEvent } from "../../rules/hooks/hook.ts";
import { hooksFor } from "../../rules/hooks/hook-match.ts";
import type { Sandbox } from "../../rules/paths/sandbox.ts";
import type { CommandEnd, Commands } from "../commands/commands.ts";
import { protectedIn } from "../tools/run-command.ts";
import { hookAnswer, type HookAnswer, type HookEnd } from "./hook-answer.ts";

/** Where the hooks of a session run, and what they need. */
export interface HookPlace {
  readonly hooks: readonly Hook[];
  readonly session_id: string;
  /** The working folder. */
  readonly cwd: string;
  readonly commands: Commands;
  /** Resolves the session's folder for the sandbox; null if there is none. */
  readonly sandbox: (() => Promise<Sandbox>) | null;
  /** Mode of the session, as Claude Code names it. */
  readonly permissionMode: () => Promise<string>;
  /** Replaces secrets in what a hook is given, and in what it answers. */
  readonly conceal: (text: string) => string;
  /** Gets a sentence for a person. */
  readonly onNotice: (sentence: string) => void;
}

/** Event as its hooks get it. */
export interface HookOccasion {
  readonly event: HookEvent;
  /** By which they match; null for all. */
  readonly names: readonly string[] | null;
  /** Fields of their input besides those of every event. */
  readonly input: (hook: Hook) => Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal | undefined;
}

/** Answers of the hooks of an event, put together. */
export interface HooksAnswer {
  /** The first denial, which ends the others; null for none. */
  readonly denied: { readonly hook: Hook; readonly reason: string } | null;
  /** For the model. */
  readonly notes: readonly string[];
}

const NO_SANDBOX =
  "there is no sandbox for it here (`reprise doctor` says why); `sandbox: false` in your config runs it without one";
/** Characters of a command in a sentence. */
const MAX_SHOWN = 100;

/** Runs hooks, one after the other, in the order of the configs. */
export class HookRunner {
  readonly #place: HookPlace;
  /** Sentences that a person has been shown. */
  readonly #shown = new Set<string>();

  constructor(place: HookPlace) {
    this.#place = place;
  }

  /** True if a hook would run. */
  has(event: HookEvent, names: readonly string[] | null = null): boolean {
    return hooksFor(this.#place.hooks, event, names).length > 0;
  }

  /** Rejects with the reason of the signal. What a hook does wrong is shown, and denies nothing. */
  async run({ event, names, input, signal }: HookOccasion): Promise<HooksAnswer> {
    const notes: string[] = [];
    for (const hook of hooksFor(this.#place.hooks, event, names)) {
      signal?.throwIfAborted();
      const { denied, note, message, error } = await this.#runOne(hook, input(hook), signal);
      const name = nameOf(hook);
      if (error !== null) {
        this.#show(`The hook ${name} failed: ${error}.`);
      }
      if (message !== null) {
        this.#place.onNotice(this.#place.conceal(`The hook ${name}: ${message}`));
      }
      if (note !== null) {
        notes.push(this.#place.conceal(`The hook ${name} reports:\n${note}`));
      }
      if (denied !== null) {
        return { denied: { hook, reason: this.#place.conceal(denied) }, notes };
      }
    }
    return { denied: null, notes };
  }

  /** Ends the hooks that run. */
  end(): Promise<void> {
    return this.#place.commands.end();
  }

  async #runOne(
    hook: Hook,
    given: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ): Promise<HookAnswer> {
    const { session_id, cwd, permissionMode, conceal } = this.#place;
    const input = JSON.stringify({
      session_id,
      transcript_path: "",
      cwd,
      permission_mode: await permissionMode(),
      hook_event_name: hook.event,
      ...given,
    });
    const end = await this.#start(hook, conceal(input), signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      return failedBy(error instanceof Error ? oneLine(error.message) : "it could not be started");
    });
    signal?.throwIfAborted();
    return hookAnswer(hook.event, end);
  }

  async #start(hook: Hook, input: string, signal: AbortSignal | undefined): Promise<HookEnd> {
    const { commands, cwd, sandbox: resolve } = this.#place;
    const sandbox = hook.isConfined && resolve !== null ? await resolve() : null;
    const confine = sandbox === null ? null : await commands.confine(sandbox.root);
    if (hook.isConfined && (sandbox === null || confine === null)) {
      return failedBy(NO_SANDBOX);
    }
    const end = await commands.run({
      command: { kind: "line", line: hook.command },
      cwd,
      sandbox:
        sandbox === null || confine === null
          ? null
          : { confine, folder: sandbox.root, network: false, hidden: await protectedIn(sandbox) },
      timeoutMs: hook.timeoutMs,
      input: `${input}\n`,
      // the name of Claude Code, which its hooks find their scripts by
      variables: { CLAUDE_PROJECT_DIR: cwd },
      signal,
      onText: () => undefined,
    });
    for (const sentence of end.sandbox?.notes ?? []) {
      this.#show(`The hook ${nameOf(hook)}: ${sentence}`);
    }
    return endOf(hook, end);
  }

  /** Once in an exchange: a hook that is not there would fill the screen. */
  #show(sentence: string): void {
    const shown = this.#place.conceal(sentence);
    if (!this.#shown.has(shown)) {
      this.#shown.add(shown);
      this.#place.onNotice(shown);
    }
  }
}

/** A hook for a person and the model, in one line. */
export function nameOf({ event, command }: Hook): string {
  const line = oneLine(command);
  const shown = line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN).toWellFormed()}…` : line;
  return `\`${shown}\` (${event})`;
}

function failedBy(ended: string): HookEnd {
  return { code: null, signal: null, ended, stdout: "", stderr: "" };
}

function endOf({ timeoutMs }: Hook, end: CommandEnd): HookEnd {
  const { code, signal, output, errors, sandbox } = end;
  const missed = sandbox?.missed ?? [];
  const stdout =
    output.left === null
      ? output.head
      : `${output.head}\n… ${output.left} bytes are left out …\n${output.tail}`;
  const ended =
    sandbox?.ended?.replace(/\.$/, "") ??
    (end.ended === "time_out"
      ? `it took longer than ${timeoutMs / 1000} s and was ended`
      : end.ended === "output_limit"
        ? "it printed too much and was ended"
        : code !== 0 && code !== 2 && missed.length > 0
          ? `exit code ${code}; the sandbox hides ${missed.join(", ")}, which sandbox.visible of your config can show`
          : null);
  return { code, signal, ended, stdout, stderr: errors };
}

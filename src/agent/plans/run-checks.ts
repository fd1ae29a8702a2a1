import { RepriseError } from "../../core/errors.ts";
import {
  CHECK_TIMEOUT_MS,
  checkCallId,
  type CheckResult,
  commandsOfPhase,
  type PlanChecks,
} from "../../core/plan-runs.ts";
import type { Conceal } from "../../core/secrets.ts";
import type { ArtifactPlace } from "../../plans/artifact-file.ts";
import { RUN_COMMAND } from "../../rules/tools/built-in.ts";
import type { StoredAttempt } from "../../store/records/plans/attempt.ts";
import type { StoredPhase } from "../../store/records/plans/phases.ts";
import type { Store } from "../../store/store.ts";
import { createCommandRecorder } from "../../workspace/undo/commands/record-command.ts";
import type { KeptBytes } from "../../workspace/undo/kept-bytes.ts";
import {
  type CommandEnd,
  type CommandOptions,
  type Commands,
  createCommands,
} from "../commands/commands.ts";
import type { Confine } from "../sandbox/confine.ts";
import { protectedIn } from "../tools/run-command.ts";

export interface ChecksOptions {
  readonly store: Store;
  readonly kept: KeptBytes | null;
  readonly place: ArtifactPlace;
  readonly checks: PlanChecks;
  /** As of the commands of an agent there; undefined if none may run. */
  readonly commands: CommandOptions | undefined;
  readonly conceal: Conceal;
}

/** The checks of a phase that were run: all of them passed, or the last one did not. */
export interface Checked {
  readonly results: readonly CheckResult[];
  /** End of the one that did not pass, and what it wrote at last; null if all passed. */
  readonly failed: { readonly shown: string; readonly how: string; readonly output: string } | null;
}

/** Characters of an output that a sub-agent gets. */
const MAX_OUTPUT = 4000;

/**
 * Runs the checks of a run's phases, in the sandbox and without a network, one after the other. What they change is recorded as
 * changes of the phase's sub-agent.
 */
export class RunChecks {
  readonly #options: ChecksOptions;

  constructor(options: ChecksOptions) {
    this.#options = options;
  }

  has(key: string): boolean {
    return commandsOfPhase(this.#options.checks, key).length > 0;
  }

  /** Error codes: `sandbox_missing` if there is no sandbox here for the folder. */
  async requireSandbox(): Promise<void> {
    const commands = this.#commandsOf("");
    const { root } = await this.#options.place.sandbox();
    await confineIn(commands, root);
  }

  /** Runs them until one does not pass. Error codes: `sandbox_missing`, the reason of the signal. */
  async run(phase: StoredPhase, attempt: StoredAttempt, signal: AbortSignal): Promise<Checked> {
    const results: CheckResult[] = [];
    const commands = this.#commandsOf(attempt.child);
    try {
      // a process that was killed in a check
      await commands?.endLeftRunning();
      for (const [index, argv] of commandsOfPhase(this.#options.checks, phase.key).entries()) {
        const call_id = checkCallId(phase, index);
        const end = await this.#runOne({ commands, argv, call_id, attempt, signal });
        signal.throwIfAborted();
        const how = failureOf(end, this.#timeoutMs());
        results.push({ argv, code: end.code, ms: Math.round(end.durationMs), failure: how });
        if (how !== null) {
          const { head, tail } = end.output;
          const output = this.#options.conceal(`${head}${tail}`.slice(-MAX_OUTPUT));
          return { results, failed: { shown: argv.join(" "), how, output } };
        }
      }
      return { results, failed: null };
    } finally {
      await commands?.end();
    }
  }

  #timeoutMs(): number {
    return this.#options.commands?.checkTimeoutMs ?? CHECK_TIMEOUT_MS;
  }

  #commandsOf(session_id: string): Commands | null {
    const { commands, conceal } = this.#options;
    return commands === undefined ? null : createCommands(commands, { session_id, conceal });
  }

  async #runOne(check: {
    readonly commands: Commands | null;
    readonly argv: readonly string[];
    readonly call_id: string;
    readonly attempt: StoredAttempt;
    readonly signal: AbortSignal;
  }): Promise<CommandEnd> {
    const { commands, argv, call_id, attempt, signal } = check;
    const { store, kept, place } = this.#options;
    const sandbox = await place.sandbox();
    const { root } = sandbox;
    const { run, confine } = await confineIn(commands, root);
    const record = createCommandRecorder({
      store,
      session_id: attempt.child,
      n: () => attempt.n,
      kept,
    });
    const own = sandbox.guarded.map(({ path }) => path);
    const hidden = await protectedIn(sandbox);
    return record({ call_id, tool: RUN_COMMAND.name, root, own }, () =>
      run({
        command: { kind: "argv", argv },
        cwd: root,
        sandbox: { confine, folder: root, network: false, hidden },
        timeoutMs: this.#timeoutMs(),
        signal,
        onText: () => {},
      }),
    );
  }
}

async function confineIn(
  commands: Commands | null,
  root: string,
): Promise<{ readonly run: Commands["run"]; readonly confine: Confine }> {
  const confine = (await commands?.confine(root)) ?? null;
  if (commands === null || confine === null) {
    throw new RepriseError(
      "sandbox_missing",
      "The plan has checks, and there is no sandbox for commands in this folder. Install bubblewrap (`reprise doctor` says more), or run the plan without checks.",
    );
  }
  return { run: commands.run, confine };
}

/** Says how a check did not pass; null if it passed. */
function failureOf({ code, signal, ended, sandbox }: CommandEnd, timeoutMs: number): string | null {
  if (sandbox !== null && sandbox.ended !== null) {
    return sandbox.ended;
  }
  switch (ended) {
    case "time_out":
      return `it took longer than ${timeoutMs / 60_000} minutes`;
    case "output_limit":
      return "it wrote too much";
    case "stopped":
      return "it was stopped";
    case null:
      return code === 0
        ? null
        : code === null
          ? `${signal ?? "the system"} ended it`
          : `exit code ${code}`;
  }
}

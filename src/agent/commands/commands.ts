import type { SandboxLimits } from "../../workspace/sandbox/policy.ts";
import type { Conceal } from "../../core/secrets.ts";
import { commandEnvironment } from "../../workspace/commands/environment.ts";
import { createKeptOutput } from "./kept-output.ts";
import { createLiveLines } from "./live-lines.ts";
import { type Command, launchOf } from "./launch.ts";
import { ProcessMarks } from "../../workspace/commands/process-marks.ts";
import { type RunEnd, runLaunch } from "./run-launch.ts";
import type { CommandSandbox } from "../sandbox/command-sandbox.ts";
import type { Confine, ConfinedPlace, SandboxResult } from "../sandbox/confine.ts";
import { createSpool, type Spool, type SpoolFile } from "./spool.ts";

/** What commands need of the machine that runs them. */
export interface CommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Exact names of further variables that commands get. */
  readonly environment?: readonly string[];
  /** Bytes of output after which a command is ended; `MAX_OUTPUT_BYTES` if it is not given. */
  readonly maxOutputBytes?: number;
  /** Where whole outputs are kept; null for nowhere. */
  readonly outputFolder: string | null;
  /** What of the home commands in the sandbox see besides: paths relative to it. */
  readonly visible?: readonly string[];
  /** Of commands in the sandbox; `SANDBOX_LIMITS` by default. */
  readonly limits?: SandboxLimits;
  /** Time that a check of a plan may take; `CHECK_TIMEOUT_MS` if it is not given. */
  readonly checkTimeoutMs?: number;
  /** Without it no command runs in a sandbox. */
  readonly sandbox?: CommandSandbox | undefined;
}

/** The commands of one exchange. */
export interface Commands {
  run(request: CommandRequest): Promise<CommandEnd>;
  /** What commands get of the environment. */
  environment(): Record<string, string>;
  /** Puts commands into the sandbox; null if there is none here for this folder, which is a real path. */
  confine(folder: string): Promise<Confine | null>;
  /** Whole outputs of the session; null if they are not kept. */
  readonly spool: Spool | null;
  /** Ends what commands of the session left running whose Reprise was killed. */
  endLeftRunning(): Promise<void>;
  /** Ends the commands that run, with all that they have started; no other one begins. */
  end(): Promise<void>;
}

export interface CommandRequest {
  readonly command: Command;
  readonly cwd: string;
  /** Without it the command runs without a sandbox. */
  readonly sandbox?: (ConfinedPlace & { readonly confine: Confine }) | null;
  readonly timeoutMs: number;
  /** Given on its standard input; its two outputs are then kept apart. */
  readonly input?: string;
  /** Variables that it gets besides. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
  /** Gets the output as it comes, in whole lines. */
  readonly onText: (text: string) => void;
}

export interface CommandEnd extends RunEnd {
  /** As of `KeptOutput`. */
  readonly output: ReturnType<ReturnType<typeof createKeptOutput>["text"]>;
  /** Standard error of a command that is given an input, cut; else empty. */
  readonly errors: string;
  readonly bytes: number;
  /** The name of all of the output; null if it is in `output`, or could not be kept. */
  readonly name: string | null;
  /** What happened in the sandbox; null without one. */
  readonly sandbox: CommandSandboxResult | null;
}

export interface CommandSandboxResult extends SandboxResult {
  /** What of the home a command that failed did not see and its output names, as `~/…`. */
  readonly missed: readonly string[];
}

/** Bytes of the beginning and of the end of an output that the model is given. */
const SHOWN = { head: 8 * 1024, tail: 24 * 1024 };
/** Bytes of the outputs of a command that is given an input. */
const ANSWERED = { head: 60 * 1024, tail: 4 * 1024 };
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export function createCommands(
  {
    env,
    environment = [],
    outputFolder,
    maxOutputBytes = MAX_OUTPUT_BYTES,
    sandbox: openSandbox,
    visible = [],
    limits,
  }: CommandOptions,
  { session_id, conceal }: { readonly session_id: string; readonly conceal: Conceal },
): Commands {
  const stop = new AbortController();
  const running = new Set<Promise<unknown>>();
  const spool = outputFolder === null ? null : createSpool(outputFolder, session_id);
  const marks = new ProcessMarks(session_id, env);

  const variables = () => commandEnvironment(env, { names: environment, conceal });

  const run = async (request: CommandRequest): Promise<CommandEnd> => {
    const { onText } = request;
    const signal = AbortSignal.any([request.signal ?? stop.signal, stop.signal]);
    const mark = marks.next();
    const apart = request.input !== undefined;
    const kept = createKeptOutput(apart ? ANSWERED : SHOWN);
    const errors = createKeptOutput(ANSWERED);
    const whole = createWhole(spool);
    const live = createLiveLines(conceal, onText);
    const launch = launchOf(request.command, {
      apart,
      cwd: request.cwd,
      env: { ...variables(), ...request.variables, ...mark.variables },
    });
    const { sandbox = null } = request;
    const confined =
      sandbox === null
        ? null
        : await sandbox.confine(launch, { limits, visible, ...sandbox, signal });
    try {
      const end = await runLaunch({
        launch: confined?.launch ?? launch,
        onStart: (pid) => confined?.watch(pid),
        isMarked: mark.isMarked,
        timeoutMs: request.timeoutMs,
        maxBytes: maxOutputBytes,
        signal,
        input: request.input,
        onOutput: async (chunk, from) => {
          if (apart && from === "stderr") {
            errors.push(chunk);
            return;
          }
          kept.push(chunk);
          live.push(chunk);
          await whole.push(chunk);
        },
      });
      live.end();
      const [output, wrong] = [kept.text(), errors.text()];
      const printed = [output.head, output.tail, wrong.head, wrong.tail].join("\n");
      const missed = end.code === 0 ? [] : (confined?.missed(printed) ?? []);
      const result = (await confined?.finish()) ?? null;
      return {
        ...end,
        output,
        errors: `${wrong.head}${wrong.tail}`,
        bytes: kept.bytes,
        name: whole.name(),
        sandbox: result === null ? null : { ...result, missed },
      };
    } finally {
      await Promise.all([whole.close(), confined?.finish()]);
    }
  };

  return {
    spool,
    environment: variables,
    confine: async (folder) => (await openSandbox?.(folder)) ?? null,
    run: (request) => {
      stop.signal.throwIfAborted();
      const work = run(request);
      // those that have ended cost nothing
      running.add(work.catch(() => undefined));
      return work;
    },
    endLeftRunning: () => marks.endLeftRunning(),
    end: async () => {
      stop.abort();
      await Promise.all(running);
    },
  };
}

/** Keeps an output in a file from the moment on when it is too long to be shown. */
function createWhole(spool: Spool | null) {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let file: SpoolFile | null = null;
  let isKept = spool !== null;
  const write = async (chunks: readonly Buffer[]): Promise<void> => {
    file ??= (await spool?.create()) ?? null;
    for (const chunk of chunks) {
      isKept &&= (await file?.append(chunk)) === true;
    }
  };
  return {
    push: async (chunk: Buffer): Promise<void> => {
      bytes += chunk.length;
      if (!isKept) {
        return;
      }
      waiting.push(chunk);
      if (bytes > SHOWN.head + SHOWN.tail) {
        const chunks = waiting;
        waiting = [];
        await write(chunks);
      }
    },
    name: (): string | null => (isKept ? (file?.name ?? null) : null),
    close: async (): Promise<void> => file?.close(),
  };
}

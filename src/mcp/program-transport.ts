import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";

import {
  deserializeMessage,
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  type Transport,
} from "@modelcontextprotocol/client";

import { endFamily } from "../workspace/commands/processes.ts";
import type { ProcessMarks } from "../workspace/commands/process-marks.ts";
import type { ServerLog } from "./server-log.ts";

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** All of its environment, but for its mark. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly mark: ReturnType<ProcessMarks["next"]>;
  readonly log: ServerLog;
}

/** Bytes of one message. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Bytes that a program may write until it is asked for something again; an answer to it does not count. */
const MAX_UNASKED_BYTES = 16 * 1024 * 1024;
/** Time in which a program ends once its input has ended. */
const END_MS = 500;
/** Time for the rest of its output once it has ended. */
const REST_MS = 500;
/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 1000;

/**
 * Speaks with a program by lines. The program leads a separate process group and has no terminal; `close` ends it with
 * all that it has started. The client finds by `stderr` and `pid` that it speaks with a program.
 */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly stderr = null;
  readonly #program: Program;
  #child: ChildProcessWithoutNullStreams | null = null;
  #ended: Promise<void> | null = null;
  #unasked = 0;

  constructor(program: Program) {
    this.#program = program;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Rejects if the program cannot be started. */
  async start(): Promise<void> {
    const { command, args, env, cwd, mark, log } = this.#program;
    const child = spawn(command, [...args], {
      cwd,
      env: { ...env, ...mark.variables },
      // setsid: its own group, and no terminal
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    // a program that has ended takes no more input
    child.stdin.on("error", () => undefined);
    await once(child, "spawn");
    child.on("error", () => undefined);
    const errors = new StringDecoder("utf8");
    child.stderr.on("data", (chunk: Buffer) => log.push(errors.write(chunk)));
    const reading = this.#read(child.stdout).catch(() => undefined);
    child.once("exit", () => {
      // the last answers may still be on their way
      const rest = Promise.race([reading, sleep(REST_MS, undefined, { ref: false })]);
      void rest.then(() => this.close());
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === null || this.#ended !== null) {
      throw new SdkError(SdkErrorCode.ConnectionClosed, "the program has ended");
    }
    if ("method" in message) {
      this.#unasked = 0;
    }
    await new Promise<void>((resolve, reject) => {
      child.stdin.write(`${JSON.stringify(message)}\n`, (error) =>
        error
          ? reject(new SdkError(SdkErrorCode.ConnectionClosed, "it takes no more input"))
          : resolve(),
      );
    });
  }

  /** Lets this process end, or not, while the program runs. */
  holdProcess(holds: boolean): void {
    const child = this.#child;
    if (child !== null) {
      const parts = [child, child.stdin, child.stdout, child.stderr].map((part) => part as Held);
      parts.forEach((part) => (holds ? part.ref?.() : part.unref?.()));
    }
  }

  /** Ends it at once, with its group. */
  kill(): void {
    const { pid } = this;
    if (pid !== null && this.#child?.exitCode === null && this.#child.signalCode === null) {
      try {
        process.kill(-pid, "SIGKILL");
      } catch {
        // it has just ended
      }
    }
  }

  close(): Promise<void> {
    return (this.#ended ??= this.#end());
  }

  /** Hands over one message in a turn of the event loop: the client loses the progress that comes with an answer. */
  async #read(output: Readable): Promise<void> {
    const lines = new Lines();
    for await (const chunk of output) {
      const bytes = Buffer.from(chunk);
      this.#unasked += bytes.length;
      const read = this.#unasked > MAX_UNASKED_BYTES ? null : lines.push(bytes);
      if (read === null) {
        this.#fail("it wrote too much at once");
        return;
      }
      for (const line of read) {
        this.#receive(line);
        await setImmediate();
      }
    }
  }

  #receive(line: string): void {
    if (line.trim() === "") {
      return;
    }
    try {
      this.onmessage?.(deserializeMessage(line));
    } catch {
      this.onerror?.(new Error("it wrote a line that is not a message"));
    }
  }

  #fail(reason: string): void {
    this.#child?.stdout.destroy();
    this.#program.log.push(`[reprise] The server is ended: ${reason}.\n`);
    this.onerror?.(new Error(reason));
    void this.close();
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child?.pid !== undefined) {
      const exit =
        child.exitCode === null && child.signalCode === null ? once(child, "exit") : null;
      child.stdin.end();
      if (exit !== null) {
        await Promise.race([exit, sleep(END_MS, undefined, { ref: false })]);
      }
      const { isMarked } = this.#program.mark;
      await endFamily({ group: child.pid, isMarked }, { graceMs: GRACE_MS });
      child.stdout.destroy();
      child.stderr.destroy();
    }
    await this.#program.log.close();
    this.onclose?.();
  }
}

/** Pipes of a child are sockets. */
interface Held {
  ref?(): void;
  unref?(): void;
}

/** Cuts bytes into lines. */
class Lines {
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** Returns the finished lines; null if one is too long. */
  push(chunk: Buffer): string[] | null {
    const lines: string[] = [];
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      lines.push(Buffer.concat([...this.#pieces, chunk.subarray(from, at)]).toString("utf8"));
      this.#pieces = [];
      this.#bytes = 0;
      from = at + 1;
    }
    const rest = chunk.subarray(from);
    this.#pieces.push(rest);
    this.#bytes += rest.length;
    return this.#bytes > MAX_MESSAGE_BYTES ? null : lines;
  }
}

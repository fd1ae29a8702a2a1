import { randomUUID } from "node:crypto";

import { isProcessGone } from "../../store/records/leases/this-process.ts";
import { endFamily } from "./processes.ts";

/** Marks the environment of all that a session starts. */
const MARKER = "REPRISE_COMMAND";

/** Characters of the marker of what is around this process. */
const MAX_MARKER = 1000;

/** Marks of the processes that an exchange starts, by which they are found after Reprise was killed. */
export class ProcessMarks {
  readonly #session_id: string;
  readonly #owner: string;
  /** Of a Reprise that a command of another one has started, too. */
  readonly #outer: string;

  constructor(session_id: string, env: Readonly<Record<string, string | undefined>>) {
    this.#session_id = session_id;
    this.#owner = `${session_id}:${process.pid}:${randomUUID()}`;
    this.#outer = env[MARKER]?.slice(-MAX_MARKER) ?? "";
  }

  /** Returns a mark for one process, and how what it starts is found. */
  next(): {
    readonly variables: Readonly<Record<string, string>>;
    readonly isMarked: (environment: string) => boolean;
  } {
    const marker = `${this.#owner}:${randomUUID()}`;
    return {
      variables: { [MARKER]: `${this.#outer},${marker}` },
      isMarked: (environment) => environment.includes(marker),
    };
  }

  /** Ends what the session left running whose Reprise was killed. */
  async endLeftRunning(): Promise<void> {
    await endFamily({ group: null, isMarked: (text) => this.#isLeftRunning(text) });
  }

  /** True for the environment of a process of this session whose Reprise is gone. */
  #isLeftRunning(environment: string): boolean {
    const marker = new RegExp(`${MARKER}=[^\\0 ]*?${this.#session_id}:(\\d+):([0-9a-f-]{36}):`);
    const [, pid, id = ""] = marker.exec(environment) ?? [];
    return pid !== undefined && !this.#owner.endsWith(id) && isOver(Number(pid));
  }
}

/** True also for our own number: this process has begun later than the one before with it. */
function isOver(pid: number): boolean {
  return pid === process.pid || isProcessGone(pid);
}

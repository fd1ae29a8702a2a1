import type { Servers } from "./servers.ts";

/** Time for which a server's question is kept open without its exchange. */
const MAX_HELD_MS = 3_600_000;
/** Sessions whose servers are held at once; the one that has waited for longest is ended for a new one. */
const MAX_HELD = 20;

/**
 * Servers of sessions that wait for the answer to a question of a server: in the protocol before 2026-07-28 the call
 * runs on meanwhile. They end with this process, or after an hour; the outcome of their calls is unknown then.
 */
export class HeldServers {
  readonly #held = new Map<string, { readonly servers: Servers; readonly timer: NodeJS.Timeout }>();
  readonly #onExit = (): void => {
    for (const { servers } of this.#held.values()) {
      servers.kill();
    }
  };

  /** Returns the servers of a session that continues; null if none wait. */
  take(session_id: string): Servers | null {
    const found = this.#held.get(session_id);
    if (found === undefined) {
      return null;
    }
    clearTimeout(found.timer);
    this.#held.delete(session_id);
    if (this.#held.size === 0) {
      process.off("exit", this.#onExit);
    }
    found.servers.holdProcess(true);
    return found.servers;
  }

  async keep(session_id: string, servers: Servers): Promise<void> {
    const [oldest = ""] = this.#held.keys();
    const left = this.#held.size < MAX_HELD ? null : this.take(oldest);
    const before = this.take(session_id);
    if (this.#held.size === 0) {
      process.on("exit", this.#onExit);
    }
    const timer = setTimeout(() => void this.take(session_id)?.end(), MAX_HELD_MS);
    timer.unref();
    servers.holdProcess(false);
    this.#held.set(session_id, { servers, timer });
    await Promise.all([left?.end(), before?.end()]);
  }
}

import type { Session } from "../core/sessions.ts";
import { threadId } from "../core/threads.ts";

/** How a process takes up a session: "SessionStart" of Claude Code's hooks reference. */
export type SessionSource = "startup" | "resume" | "clear" | "compact";

/** Sessions that a process has taken up, for hooks. */
export class TakenSessions {
  readonly #taken = new Map<string, string>();

  /**
   * Returns how the session is taken up with its next message; null if it is already. `summary` is the id of the last one of
   * its thread, and null without one. `keep` notes that it is taken up.
   */
  source(
    { id, thread_suffix }: Session,
    { hasBegun, summary }: { readonly hasBegun: boolean; readonly summary: string | null },
  ): { readonly source: SessionSource | null; readonly keep: () => void } {
    const thread = threadId(id, thread_suffix);
    const now = `${thread} ${summary ?? ""}`;
    const last = this.#taken.get(id);
    const isNew = last?.startsWith(`${thread} `) !== true;
    const first = hasBegun ? "resume" : thread_suffix === 0 ? "startup" : "clear";
    const source = isNew ? first : last === now ? null : "compact";
    return { source, keep: () => this.#taken.set(id, now) };
  }

  /** False for a session that was not taken up. */
  leave(id: string): boolean {
    return this.#taken.delete(id);
  }
}

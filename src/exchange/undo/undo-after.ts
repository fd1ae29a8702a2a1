import { isRepriseError } from "../../core/errors.ts";
import type { UndoInfo } from "../../core/schemas/file-change-schemas.ts";
import type { Principal } from "../../core/principal.ts";
import { listChangedAfter } from "../../store/records/file-changes/read.ts";
import { resolveSession } from "../../store/records/sessions/read.ts";
import type { Step } from "../../workspace/undo/restore.ts";
import { alone, type UndoOptions, work } from "./undo-exchange.ts";

export interface UndoAfter {
  readonly reference: string;
  /** Exchanges that began after this message are undone. */
  readonly after_seq: number;
  readonly dry_run: boolean;
  readonly principal: Principal;
}

/** Outcome of undoing one exchange, or why nothing was undone. */
export type UndoneExchange = UndoInfo & { readonly problem: string | null };

/**
 * Undoes all exchanges after a message that changed files which are still changed, the latest first, each as
 * `undoExchange`. What one of them refuses stops no other one. Killed in the middle, the same can be done again.
 *
 * Error codes: as `resolveSession`; `session_busy` before anything is undone.
 */
export async function undoAfter(
  options: UndoOptions,
  { reference, after_seq, dry_run, principal }: UndoAfter,
): Promise<UndoneExchange[]> {
  const session = await options.store.read(resolveSession, { reference });
  const needsLease = !dry_run && session.state !== "ended";
  return alone(options, session, { needsLease }, async () => {
    const planned: Step[] = [];
    const undone: UndoneExchange[] = [];
    const after = { session_id: session.id, after_seq };
    const changed = await options.store.read(listChangedAfter, after);
    for (const { n } of changed.filter((each) => each.undone < each.changes)) {
      const input = { reference: session.id, n, direction: "undo", dry_run, principal } as const;
      try {
        const earlier = dry_run ? planned : [];
        undone.push({ ...(await work(options, session, input, earlier)), problem: null });
      } catch (error) {
        if (!isRepriseError(error)) {
          throw error;
        }
        undone.push({ n, dry_run, files: [], problem: error.message });
      }
    }
    return undone;
  });
}

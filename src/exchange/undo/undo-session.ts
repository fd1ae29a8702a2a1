import type { UndoInfo } from "../../core/schemas/file-change-schemas.ts";
import { listChangedExchanges } from "../../store/records/file-changes/read.ts";
import { undoExchange, type UndoExchange, type UndoOptions } from "./undo-exchange.ts";

/**
 * Takes back what all exchanges of a session changed, the latest first, as `undoExchange` does with each. Returns an outcome
 * for each that was not undone before.
 *
 * Error codes: as `undoExchange`.
 */
export async function undoSession(
  options: UndoOptions,
  { id, principal, dry_run }: { readonly id: string } & Pick<UndoExchange, "principal" | "dry_run">,
): Promise<readonly UndoInfo[]> {
  const exchanges = await options.store.read(listChangedExchanges, { session_id: id });
  const outcomes: UndoInfo[] = [];
  for (const { n } of exchanges.filter(({ changes, undone }) => undone < changes)) {
    outcomes.push(
      await undoExchange(options, { reference: id, n, direction: "undo", principal, dry_run }),
    );
  }
  return outcomes;
}

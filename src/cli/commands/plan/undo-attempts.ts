import type { Command } from "commander";

import { localPrincipal } from "../../../core/principal.ts";
import type { UndoInfo } from "../../../core/schemas/file-change-schemas.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import type { UndoOptions } from "../../../exchange/undo/undo-exchange.ts";
import { localUser } from "../../../store/records/leases/local-user.ts";
import type { StoredPhase } from "../../../store/records/plans/phases.ts";
import type { Store } from "../../../store/store.ts";
import { undoLines } from "../../output/change-lines.ts";
import { databaseLocation, undoFolderPath } from "../../process/config.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";
import { databaseOption } from "../../process/database.ts";
import { ownSecrets } from "../../process/own-secrets.ts";

interface Attempts {
  readonly store: Store;
  readonly command: Command;
  readonly phases: readonly StoredPhase[];
}

/**
 * Takes back what the last attempts of phases changed, the latest phase first. False, with nothing taken back, if a file of
 * one of them would be refused.
 *
 * Error codes: as `undoExchange`.
 */
export async function undoAttempts(cli: CliContext, attempts: Attempts): Promise<boolean> {
  const { store, command, phases } = attempts;
  const { keptBytesIn } = await import("../../../workspace/undo/kept-bytes.ts");
  const location = databaseLocation(cli, databaseOption(command));
  const options: UndoOptions = {
    store,
    kept: keptBytesIn(undoFolderPath(cli)),
    secrets: ownSecrets(cli, { location }),
    command: "reprise plan retry",
  };
  const planned = await undone(options, phases, { dry_run: true });
  const refused = refusedIn(planned);
  if (refused.length > 0) {
    showUndone(cli, refused);
    return false;
  }
  const done = await undone(options, phases, { dry_run: false });
  showUndone(cli, done);
  // a file may have been changed in between
  return done.every(({ info }) => info.files.every((file) => file.outcome !== "refused"));
}

interface Undone {
  readonly key: string;
  readonly info: UndoInfo;
}

async function undone(
  options: UndoOptions,
  phases: readonly StoredPhase[],
  { dry_run }: { readonly dry_run: boolean },
): Promise<readonly Undone[]> {
  const { undoSession } = await import("../../../exchange/undo/undo-session.ts");
  const principal = localPrincipal("terminal", localUser());
  const all: Undone[] = [];
  for (const { key, child } of phases.toReversed()) {
    const infos =
      child === null ? [] : await undoSession(options, { id: child, principal, dry_run });
    all.push(...infos.map((info) => ({ key, info })));
  }
  return all;
}

/** Files that undo would refuse: one that a later attempt changed is judged with that attempt only. */
function refusedIn(planned: readonly Undone[]): readonly Undone[] {
  const judged = new Set<string>();
  return planned.flatMap(({ key, info }) => {
    const files = info.files.filter(
      ({ path, outcome }) => outcome === "refused" && !judged.has(path),
    );
    for (const { path } of info.files) {
      judged.add(path);
    }
    return files.length === 0 ? [] : [{ key, info: { ...info, files } }];
  });
}

function showUndone(cli: CliContext, undone: readonly Undone[]): void {
  for (const { key, info } of undone) {
    for (const line of undoLines(info, "undo", { diffs: false })) {
      noticeLine(cli, `${oneLine(key)}: ${line}`);
    }
  }
}

import { Command } from "commander";

import { LEASE_MS } from "../../../core/limits.ts";
import { holdLease } from "../../../exchange/lease-holder.ts";
import { thisProcess } from "../../../store/records/leases/this-process.ts";
import { readSession, resolveSession } from "../../../store/records/sessions/read.ts";
import { forgetIndexed } from "../../../store/records/search/forget.ts";
import { type Repair, repairSession } from "../../../store/verify/repair.ts";
import { type CliContext, note, noticeLine, printJson, printLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { plural } from "../../../core/text/text.ts";

/**
 * `sessions repair <id>`: rebuilds the messages from the agent's checkpoints, all or nothing; what
 * waits for the agent stays. Run again, it changes nothing. Refused while an exchange is running,
 * and if a checkpoint is damaged.
 */
export function repairCommand(cli: CliContext): Command {
  const command = new Command("repair")
    .description("rebuild the messages of a session from the agent's checkpoints")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option("--json", "print one JSON document")
    .action(async (reference: string, options: { json?: true }) => {
      await using store = await openDatabase(cli, command);
      const before = await store.read(resolveSession, { reference });
      const { id } = before;
      const hold = () =>
        holdLease({
          store,
          session_id: id,
          owner: thisProcess("reprise sessions repair"),
          life_ms: LEASE_MS,
          when_busy: "refuse",
          signal: new AbortController().signal,
        });
      const repair = await repairSession({ store, session_id: id, hold });
      await store.write(forgetIndexed, { session_id: id });
      const after = await store.read(readSession, { id });
      if (after.total_input_tokens < before.total_input_tokens) {
        const fell = `from ${before.total_input_tokens} to ${after.total_input_tokens}`;
        note(cli, `total_input_tokens was lowered ${fell}.`);
      }
      if (options.json === true) {
        const { findings, rows } = repair;
        printJson(cli, { session_id: id, repaired: findings.length > 0, findings, rows });
      } else {
        printRepair(cli, id, repair);
      }
    });
  return withStore(command);
}

function printRepair(cli: CliContext, id: string, { findings, left, rows }: Repair): void {
  for (const { kind, sentence } of left) {
    noticeLine(
      cli,
      `${kind}: ${sentence} It is left unchanged, because the right value is unknown.`,
    );
  }
  if (findings.length === 0) {
    const why =
      left.length > 0 ? "that can be repaired" : "to repair: messages and checkpoints agree";
    printLine(cli, `${id}  nothing ${why}`);
    return;
  }
  for (const [kind, fixed] of Map.groupBy(findings, (finding) => finding.kind)) {
    printLine(cli, `${kind}: ${fixed.length} fixed`);
  }
  const { removed, added, changed, moved } = rows;
  printLine(
    cli,
    `${id}  repaired: ${plural(added, "row")} added, ${changed} changed, ${removed} removed, ${moved} at another position`,
  );
}

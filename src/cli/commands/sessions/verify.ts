import { Command } from "commander";

import { isRepriseError } from "../../../core/errors.ts";
import { about } from "../../../store/verify/difference.ts";
import { type Orphans, readOrphans } from "../../../store/verify/record.ts";
import {
  asVerification,
  damaged,
  type Verification,
  verificationOf,
} from "../../../store/verify/verification.ts";
import { verifySession } from "../../../store/verify/verify-session.ts";
import { readSessionIds, walkSessions } from "../../../store/records/sessions/trees/walk.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import type { Store } from "../../../store/store.ts";
import { type CliContext, noticeLine, printJson, printLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { remedies } from "./remedies.ts";
import { plural } from "../../../core/text/text.ts";

/** Differences of one session that a person is shown; `--json` prints all. */
const MAX_SHOWN = 20;

/**
 * `sessions verify [id]`: compares the stored messages with the agent's checkpoints, of one session
 * or of all. Exit code 1 if they differ. Nothing is changed.
 */
export function verifyCommand(cli: CliContext): Command {
  const command = new Command("verify")
    .description("compare the messages with the agent's checkpoints: all sessions, or one")
    .argument("[id]", "an id, or the first 6 or more characters of it")
    .option("--json", "print a line of JSON for each session that differs, then a summary")
    .action(async (reference: string | undefined, options: { json?: true }) => {
      await using store = await openDatabase(cli, command);
      const json = options.json === true;
      if (reference === undefined) {
        await verifyAll(cli, store, json);
        return;
      }
      const { id } = await store.read(resolveSession, { reference });
      const document = asVerification(await verifySession(store, id));
      cli.exitCode = document.ok ? 0 : 1;
      if (json) {
        printJson(cli, document);
      } else {
        printFindings(cli, document);
      }
    });
  return withStore(command);
}

/** Prints each session that differs as soon as it is known: there may be thousands. */
async function verifyAll(cli: CliContext, store: Store, json: boolean): Promise<void> {
  const counts = { sessions: 0, messages: 0, different: 0, findings: 0 };
  const differing: Pick<Verification, "findings">[] = [];
  const count = (document: Verification): void => {
    counts.messages += document.messages;
    counts.findings += document.findings.length;
    counts.different += document.ok ? 0 : 1;
    if (!document.ok) {
      differing.push({ findings: kindsOf(document) });
    }
    if (!document.ok && json) {
      printJson(cli, document);
    } else if (!document.ok) {
      printLine(cli, sessionLine(document));
    }
  };
  const ids = walkSessions((page) => store.read(readSessionIds, { ...page, roots: false }));
  for await (const { id } of ids) {
    const document = await verificationIfThere(store, id);
    if (document !== null) {
      counts.sessions += 1;
      count(document);
    }
  }
  for (const orphans of await store.read(readOrphans, null)) {
    count(orphanDocument(orphans));
  }
  cli.exitCode = counts.different === 0 ? 0 : 1;
  if (json) {
    printJson(cli, { ok: counts.different === 0, ...counts });
    return;
  }
  printLine(cli, summary(counts));
  if (counts.different > 0) {
    noticeLine(cli, "See one with: reprise sessions verify <id>");
    for (const sentence of remedies(differing, "<id>")) {
      noticeLine(cli, sentence);
    }
  }
}

/** Null for a session that was deleted meanwhile. */
async function verificationIfThere(store: Store, id: string): Promise<Verification | null> {
  try {
    return await verificationOf(store, id);
  } catch (error) {
    if (isRepriseError(error, "session_not_found")) {
      return null;
    }
    throw error;
  }
}

function orphanDocument({ session_id, messages }: Orphans): Verification {
  const sentence = `${plural(messages, "message")} of a session that has no row; restore a backup.`;
  return damaged(session_id, about("session_missing", sentence), messages);
}

function printFindings(cli: CliContext, document: Verification): void {
  const { session_id, findings, pending } = document;
  if (document.ok) {
    const waiting = pending === 0 ? "" : `, ${pending} of them in no checkpoint yet`;
    const messages = `${plural(document.messages, "message")}${waiting}`;
    const all = `${messages}, ${plural(document.threads, "thread")}`;
    printLine(cli, `${session_id}  messages and checkpoints agree (${all})`);
    return;
  }
  for (const { kind, sentence } of findings.slice(0, MAX_SHOWN)) {
    printLine(cli, `${kind}: ${sentence}`);
  }
  if (findings.length > MAX_SHOWN) {
    printLine(cli, `… and ${findings.length - MAX_SHOWN} more; --json lists all`);
  }
  printLine(cli, `${session_id}  ${plural(findings.length, "difference")}`);
  for (const sentence of remedies([document], session_id)) {
    noticeLine(cli, sentence);
  }
}

/** A finding of each kind: there may be thousands. */
function kindsOf({ findings }: Verification): Verification["findings"] {
  return [...new Map(findings.map((finding) => [finding.kind, finding])).values()];
}

function sessionLine({ session_id, findings }: Verification): string {
  const byKind = Map.groupBy(findings, ({ kind }) => kind);
  const kinds = [...byKind].map(([kind, same]) => `${same.length} ${kind}`).join(", ");
  return `${session_id}  ${plural(findings.length, "difference")}: ${kinds}`;
}

function summary(counts: { sessions: number; messages: number; different: number }): string {
  const checked = `${plural(counts.sessions, "session")}, ${plural(counts.messages, "message")}`;
  return counts.different === 0
    ? `${checked}: messages and checkpoints agree`
    : `${checked}: ${plural(counts.different, "session")} with differences`;
}

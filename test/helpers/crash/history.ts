import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { startProgram } from "../start-program.ts";
import { temporaryFolder } from "../temp.ts";
import { type Content, contentThrough } from "../content.ts";
import { type Log, readLog } from "./log.ts";

/** What a killed process left on the disk, and what was acknowledged to it. */
export interface Crash {
  readonly database: Buffer;
  readonly log: Buffer;
  readonly commits: Log["commits"];
  /** The content after each acknowledged commit; neighbours differ. */
  readonly acknowledged: readonly Content[];
}

export interface HistoryOptions {
  readonly seed: number;
  readonly steps: number;
  /** True to write the log back in the middle, so that it begins again over its old frames. */
  readonly checkpoint: boolean;
}

/** Lets a process write a random history and kills it. */
export async function crashAfter({ seed, steps, checkpoint }: HistoryOptions): Promise<Crash> {
  const path = join(temporaryFolder(), "reprise.db");
  const program = startProgram("store-history.ts", [
    path,
    `${seed}`,
    `${steps}`,
    checkpoint ? "checkpoint" : "",
  ]);
  await program.waitFor(/filled/);
  const { stdout } = await program.stop("SIGKILL");
  const log = readFileSync(`${path}-wal`);
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  return {
    database: readFileSync(path),
    log,
    commits: readLog(log).commits,
    acknowledged: lines
      .filter((line, index) => line !== lines[index - 1])
      .map((line) => JSON.parse(line) as Content),
  };
}

/** What a database says of itself once it was opened again. */
export interface Recovered {
  readonly content: Content;
  /** Each sentence is something that must not be: empty if all is well. */
  readonly faults: readonly string[];
}

/** Lays an image out, opens it as the program would and checks everything in it. */
export async function recover(
  path: string,
  image: { readonly database: Buffer; readonly log: Buffer },
): Promise<Recovered> {
  writeFileSync(path, image.database);
  writeFileSync(`${path}-wal`, image.log);
  await using _ = await openSqliteStore({ path });
  using file = new DatabaseSync(path, { readOnly: true });
  return { content: contentThrough(file), faults: faultsOf(file) };
}

/** Errors that no content may have, whatever was lost: each query finds what contradicts itself. */
const CONTRADICTIONS: Readonly<Record<string, string>> = {
  "a session's counter is not its last seq": `
    SELECT id FROM sessions s
    WHERE last_seq <> (SELECT coalesce(max(seq), 0) FROM messages WHERE session_id = s.id)`,
  "there is a hole in the messages": `
    SELECT id FROM sessions s
    WHERE last_seq <> (SELECT count(*) FROM messages WHERE session_id = s.id)`,
  "a session's last activity is not its last message's": `
    SELECT id FROM sessions s
    WHERE last_message_at IS NOT
      (SELECT ts FROM messages WHERE session_id = s.id ORDER BY seq DESC LIMIT 1)`,
  "a title is missing": `
    SELECT id FROM sessions s
    WHERE title IS NULL AND EXISTS (SELECT 1 FROM messages WHERE session_id = s.id AND role = 'user')`,
  "a total is not the sum of what was counted": `
    SELECT id FROM sessions s
    WHERE NOT EXISTS (SELECT 1 FROM messages WHERE session_id = s.id AND checkpointed = 1)
      AND total_input_tokens <>
        (SELECT coalesce(sum(token_count), 0) FROM messages WHERE session_id = s.id)`,
  "a message that the agent answered has no checkpoint": `
    SELECT session_id FROM messages m
    WHERE checkpointed = 1 AND NOT EXISTS
      (SELECT 1 FROM threads t
       JOIN checkpoint_bodies b ON b.thread = t.id
       WHERE t.thread_id LIKE m.session_id || ':%' AND instr(b.body, m.message_id) > 0)`,
  "a checkpoint refers to a body that is not there": `
    SELECT 1 FROM checkpoint_list_items i
    WHERE NOT EXISTS (SELECT 1 FROM checkpoint_bodies b WHERE b.id = i.body)`,
};

function faultsOf(file: DatabaseSync): string[] {
  const verdict = file.prepare("PRAGMA integrity_check").get()?.["integrity_check"];
  return [
    ...(verdict === "ok" ? [] : [`integrity_check: ${String(verdict)}`]),
    ...(file.prepare("PRAGMA foreign_key_check").get() === undefined ? [] : ["a foreign key"]),
    ...Object.entries(CONTRADICTIONS)
      .filter(([, query]) => file.prepare(query).get() !== undefined)
      .map(([fault]) => fault),
  ];
}

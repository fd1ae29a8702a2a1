import { copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

import { Collected, noHistory } from "../collected.ts";
import { argsIn, type Fields, fieldsIn, nameIn, textIn, timeIn } from "../fields.ts";
import type { AnswerEntry, ChildHistory, Entry, ForeignCall, History } from "../history.ts";
import { openFile, unreadable } from "../lines.ts";

/**
 * Reads the conversations of opencode: the tables `session`, `message` and `part` of
 * `~/.local/share/opencode/opencode.db`. One root session with its sub-agents is in memory at a time.
 *
 * Error codes: `file_unreadable`, `export_invalid`, `body_too_large`.
 */
export async function* readOpencode(source: string): AsyncGenerator<History> {
  await using opened = await openUnchanged(source);
  const { database } = opened;
  refuseForeign(database);
  let isEmpty = true;
  for (const row of rows(
    database,
    "SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_created, id",
  )) {
    const history = sessionOf(database, source, textIn(row["id"]), new Set());
    if (history !== null) {
      isEmpty = false;
      yield history;
    }
  }
  if (isEmpty) {
    throw noHistory("opencode");
  }
}

interface Opened extends AsyncDisposable {
  readonly database: DatabaseSync;
}

/**
 * Opens a database without a trace beside it. What is still in its log is only read from a copy, because SQLite makes
 * files beside a database with a log.
 */
async function openUnchanged(source: string): Promise<Opened> {
  await (await openFile(source)).close();
  const log = await stat(`${source}-wal`).catch(() => null);
  if (log === null || log.size === 0) {
    const database = opened(`${pathToFileURL(source).href}?immutable=1`);
    return { database, [Symbol.asyncDispose]: () => Promise.resolve(database.close()) };
  }
  const folder = await mkdtemp(join(tmpdir(), "reprise-import-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await copyBoth(source, join(folder, "copy.db"));
    const database = opened(join(folder, "copy.db"));
    return {
      database,
      [Symbol.asyncDispose]: async () => {
        database.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Copies the file and its log while neither changes. */
async function copyBoth(source: string, copy: string): Promise<void> {
  const version = async (): Promise<string> => {
    const states = await Promise.all(
      [source, `${source}-wal`].map((file) => stat(file, { bigint: true })),
    );
    return states.map(({ size, mtimeNs }) => `${size} ${mtimeNs}`).join();
  };
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const before = await version();
    await copyFile(source, copy);
    await copyFile(`${source}-wal`, `${copy}-wal`);
    if ((await version()) === before) {
      return;
    }
  }
  throw unreadable("is being written; end opencode and import again");
}

function opened(location: string): DatabaseSync {
  try {
    return new DatabaseSync(location, { readOnly: true });
  } catch (cause) {
    throw unreadable("cannot be opened as an SQLite database", cause);
  }
}

const TABLES = ["session", "message", "part"];

/** Anything that is called like a table could run for ever. */
function refuseForeign(database: DatabaseSync): void {
  const tables = rows(
    database,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('session', 'message', 'part') AND sql NOT LIKE '%VIRTUAL%' AND sql NOT LIKE '%GENERATED%'",
  );
  if (tables.length !== TABLES.length) {
    throw noHistory("opencode");
  }
}

function rows(database: DatabaseSync, sql: string, ...values: string[]): Fields[] {
  try {
    return database.prepare(sql).all(...values);
  } catch (cause) {
    throw unreadable("is damaged, or of a version of opencode that is not known", cause);
  }
}

function sessionOf(
  database: DatabaseSync,
  source: string,
  id: string,
  above: ReadonlySet<string>,
): History | null {
  const collected = new Collected(source);
  const [session] = rows(database, "SELECT * FROM session WHERE id = ?", id);
  const undone = undoneIn(session?.["revert"]);
  const messages = rows(
    database,
    "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id",
    id,
  );
  const callsOfSessions = new Map<string, string>();
  const entries: Entry[] = [];
  for (const message of messages) {
    const undoneFrom = undone !== null && message["id"] === undone.message ? undone.part : null;
    if (undoneFrom === "") {
      break;
    }
    const parts = rows(
      database,
      "SELECT id, data FROM part WHERE message_id = ? ORDER BY id",
      textIn(message["id"]),
    ).filter((part) => undoneFrom === null || textIn(part["id"]) < undoneFrom);
    const reader = new MessageReader(collected, callsOfSessions);
    entries.push(...reader.entries(message, parts));
    if (undoneFrom !== null) {
      break;
    }
  }
  const below = new Set([...above, id]);
  const children = rows(
    database,
    "SELECT id FROM session WHERE parent_id = ? ORDER BY time_created, id",
    id,
  ).flatMap((child): ChildHistory[] => {
    const child_id = textIn(child["id"]);
    const history = below.has(child_id) ? null : sessionOf(database, source, child_id, below);
    return history === null ? [] : [{ ...history, call_id: callsOfSessions.get(child_id) ?? null }];
  });
  return entries.length === 0
    ? null
    : {
        program: "opencode",
        id,
        source,
        folder: nameIn(session?.["directory"]),
        created: timeIn(session?.["time_created"]),
        entries,
        children,
        problems: collected.problems(),
      };
}

interface Undone {
  readonly message: string;
  /** First part of it; empty for all. */
  readonly part: string;
}

/** Where the messages begin that a person has undone and may want again. */
function undoneIn(revert: unknown): Undone | null {
  const { messageID, partID } = argsIn(revert);
  const message = nameIn(messageID);
  return message === null ? null : { message, part: textIn(partID) };
}

class MessageReader {
  readonly #collected: Collected;
  readonly #callsOfSessions: Map<string, string>;

  constructor(collected: Collected, callsOfSessions: Map<string, string>) {
    this.#collected = collected;
    this.#callsOfSessions = callsOfSessions;
  }

  entries(row: Fields, partRows: readonly Fields[]): readonly Entry[] {
    const id = textIn(row["id"]);
    const ts = timeIn(row["time_created"]);
    const message = this.#parsed("message", row);
    const parts = partRows.map((part) => this.#parsed("part", part));
    if (message["role"] === "user") {
      const text = this.#textOf(parts);
      return text === "" ? [] : [{ kind: "user", id, ts, text }];
    }
    if (message["role"] !== "assistant") {
      return [];
    }
    if (message["summary"] === true) {
      return [{ kind: "summary", id, ts, text: this.#textOf(parts), kept_from: null }];
    }
    const tools = parts.filter(({ type }) => type === "tool");
    const answer: AnswerEntry = {
      kind: "answer",
      id,
      ts,
      text: this.#textOf(parts),
      thinking: parts
        .filter(({ type, text }) => type === "reasoning" && textIn(text) !== "")
        .map(({ text }) => this.#collected.text(textIn(text))),
      calls: tools.map((tool) => this.#callIn(tool)),
    };
    const isEmpty = answer.text === "" && answer.calls.length === 0;
    return isEmpty ? [] : [answer, ...tools.flatMap((tool) => this.#resultOf(tool))];
  }

  #textOf(parts: readonly Fields[]): string {
    const texts = parts
      .filter((part) => part["ignored"] !== true)
      .flatMap((part) =>
        part["type"] === "text"
          ? [textIn(part["text"])]
          : part["type"] === "file"
            ? [`[${nameIn(part["filename"]) ?? "file"}: not imported]`]
            : [],
      );
    return this.#collected.text(texts.join("\n"));
  }

  #callIn({ callID, tool, state }: Fields): ForeignCall {
    const id = textIn(callID);
    const { input, metadata } = fieldsIn(state);
    const child = nameIn(fieldsIn(metadata)["sessionId"]);
    if (child !== null) {
      this.#callsOfSessions.set(child, id);
    }
    const args = fieldsIn(input);
    this.#collected.count(JSON.stringify(args).length);
    return { id, name: textIn(tool), args };
  }

  #resultOf({ callID, state }: Fields): readonly Entry[] {
    const { status, output, error, time } = fieldsIn(state);
    if (status !== "completed" && status !== "error") {
      return [];
    }
    const call_id = textIn(callID);
    const failed = status === "error";
    const text = this.#collected.text(textIn(failed ? error : output));
    return [
      { kind: "result", id: call_id, ts: timeIn(fieldsIn(time)["end"]), call_id, text, failed },
    ];
  }

  #parsed(table: string, { id, data }: Fields): Fields {
    try {
      return fieldsIn(JSON.parse(textIn(data)));
    } catch {
      const { source } = this.#collected;
      const message = `has a row of ${table} that is not JSON: ${textIn(id).slice(0, 64)}`;
      this.#collected.report({ source, line: null, message });
      return {};
    }
  }
}

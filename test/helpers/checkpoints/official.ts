import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { brotliDecompressSync } from "node:zlib";

import {
  type BaseCheckpointSaver,
  JsonPlusSerializer,
  uuid6,
} from "@langchain/langgraph-checkpoint";

import { copyThreads } from "../../../src/compat/langgraph/copy-threads.ts";
import type {
  CopyLangGraphInput,
  ThreadCopyReport,
} from "../../../src/store/portable/thread-copies.ts";
import type { Store } from "../../../src/store/store.ts";
import { temporaryFolder } from "../temp.ts";

/** What `make.mjs` made with LangGraph's own savers. */
export function fixture(name: "sqlite.db" | "postgres.sql" | "states.json"): Buffer {
  const url = new URL(`../../fixtures/langgraph-savers/${name}.br`, import.meta.url);
  return brotliDecompressSync(readFileSync(url));
}

/** Copies into a store that stays open. */
export function copyInto(
  target: Store,
  from: string,
  more: Partial<CopyLangGraphInput> = {},
): Promise<ThreadCopyReport> {
  return copyThreads({
    from,
    openTarget: () =>
      Promise.resolve({ ...target, [Symbol.asyncDispose]: () => Promise.resolve() }),
    intoExisting: false,
    onProgress: () => undefined,
    ...more,
  });
}

export type State = Readonly<Record<string, unknown>>;

/** Every state of a thread as a saver reads it, as JSON of LangGraph's own serializer. */
export async function statesOf(saver: BaseCheckpointSaver, threadId: string): Promise<State[]> {
  const serializer = new JsonPlusSerializer();
  const states: State[] = [];
  for await (const tuple of saver.list({ configurable: { thread_id: threadId } })) {
    const [, bytes] = await serializer.dumpsTyped(tuple);
    states.push(JSON.parse(new TextDecoder().decode(bytes)) as State);
  }
  return states;
}

export interface OfficialRow {
  readonly thread_id: string | Uint8Array;
  readonly checkpoint_id: string;
  readonly checkpoint_ns?: string;
  readonly parent_checkpoint_id?: string | null;
  readonly type?: string | null;
  readonly checkpoint?: unknown;
  readonly metadata?: unknown;
}

/** A file as SqliteSaver makes it. */
export class OfficialFile {
  readonly path: string;
  readonly db: DatabaseSync;

  constructor(path = join(temporaryFolder(), "official.db")) {
    this.path = path;
    this.db = new DatabaseSync(path);
    this.db.exec(`PRAGMA journal_mode=WAL;
      CREATE TABLE IF NOT EXISTS checkpoints (thread_id TEXT NOT NULL,
        checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
        parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
      CREATE TABLE IF NOT EXISTS writes (thread_id TEXT NOT NULL,
        checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
        task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx))`);
  }

  add(row: OfficialRow): void {
    const { checkpoint_id: id, checkpoint = {}, metadata = { source: "loop", step: 0 } } = row;
    this.db
      .prepare("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)")
      .run(
        row.thread_id,
        row.checkpoint_ns ?? "",
        id,
        row.parent_checkpoint_id ?? null,
        row.type === undefined ? "json" : row.type,
        typeof checkpoint === "string" ? checkpoint : checkpointText(id, checkpoint as object),
        typeof metadata === "string" ? metadata : JSON.stringify(metadata),
      );
  }

  addWrite(row: {
    readonly thread_id: string;
    readonly checkpoint_id: string;
    readonly idx?: number;
    readonly channel: string;
    readonly value: string;
  }): void {
    this.db
      .prepare("INSERT INTO writes VALUES (?, '', ?, 'task', ?, ?, 'json', ?)")
      .run(row.thread_id, row.checkpoint_id, row.idx ?? 0, row.channel, row.value);
  }

  /** Checkpoints in which a list of messages grows; returns their ids. */
  addChain(thread_id: string, count: number): string[] {
    const ids = Array.from({ length: count }, (_, index) => uuid6(index)).toSorted();
    for (const [index, checkpoint_id] of ids.entries()) {
      const messages = Array.from({ length: index + 1 }, (_, each) => messageRecord(`${each}`));
      this.add({
        thread_id,
        checkpoint_id,
        parent_checkpoint_id: ids[index - 1] ?? null,
        checkpoint: {
          channel_values: { messages },
          channel_versions: { messages: index + 1 },
        },
      });
    }
    return ids;
  }

  [Symbol.dispose](): void {
    this.db.close();
  }
}

function messageRecord(id: string): object {
  return {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", "HumanMessage"],
    kwargs: { id, content: `message ${id}`, additional_kwargs: {}, response_metadata: {} },
  };
}

function checkpointText(id: string, more: object): string {
  return JSON.stringify({
    v: 4,
    id,
    ts: "2026-01-01T00:00:00.000Z",
    channel_values: {},
    channel_versions: {},
    versions_seen: {},
    ...more,
  });
}

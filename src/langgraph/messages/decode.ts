import { load } from "@langchain/core/load";
import type { BaseMessage } from "@langchain/core/messages";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";

import {
  at,
  chunksKey,
  ESCAPED,
  LIST,
  MESSAGE,
  type StoredRef,
  type StoredValue,
} from "../../store/checkpoints/value.ts";
import { jsonOf } from "../../store/checkpoints/value-json.ts";

/** Makes messages of what a stored value refers to: new ones at every call. */
export interface MessageReader {
  text(body: number): string;
  message(body: number): BaseMessage | Promise<BaseMessage>;
  messages(list: number, length: number): BaseMessage[] | Promise<BaseMessage[]>;
  /** Values of chunks that readers share; null if each gets a separate one. */
  readonly values: SharedValues | null;
}

/** Values that consist of plain JSON, by `chunksKey`. */
export interface SharedValues {
  known(key: string): { readonly value: unknown } | null;
  /** Freezes and keeps a value. */
  keep(key: string, value: unknown): void;
}

/**
 * The value that was stored, sharing nothing with any other that was read but what `values` has. A record that
 * JsonPlusSerializer would not revive is left unchanged.
 */
export async function decodeValue(stored: StoredValue, reader: MessageReader): Promise<unknown> {
  if ("l" in stored) {
    return reader.messages(...stored.l);
  }
  const key = reader.values === null ? null : chunksKey(stored);
  const known = key === null ? null : (reader.values?.known(key) ?? null);
  if (known !== null) {
    return known.value;
  }
  const { json, refs } = jsonOf(stored, reader.text);
  const late: (() => Promise<void>)[] = [];
  // inline JSON was parsed with its row, for this read alone: it may be revived in place
  const holder: Record<string, unknown> = { value: json };
  revive({ holder, key: "value", refs, reader, late });
  for (const apply of late) {
    await apply();
  }
  if (key !== null && late.length === 0) {
    reader.values?.keep(key, holder["value"]);
  }
  return holder["value"];
}

interface Member {
  readonly holder: object;
  readonly key: string | number;
  readonly refs: readonly StoredRef[];
  readonly reader: MessageReader;
  /** Conversions that take a promise, innermost first. */
  readonly late: (() => Promise<void>)[];
}

/** Replaces the member of a record or list, and everything in it, by the value that it refers to. */
function revive(member: Member): void {
  const value: unknown = Reflect.get(member.holder, member.key);
  if (typeof value !== "object" || value === null) {
    return;
  }
  if (MESSAGE in value || LIST in value) {
    setOnceMade(member, refer(member, value));
    return;
  }
  for (const key of Object.keys(value)) {
    revive({ ...member, holder: value, key });
  }
  if (ESCAPED in value) {
    const entries = value[ESCAPED];
    // its entries may be late too, so it is built after them
    member.late.push(() => Promise.resolve(set(member, Object.fromEntries(entriesOf(entries)))));
  } else if ("lc" in value) {
    member.late.push(async () => set(member, await construct(value)));
  }
}

function setOnceMade(member: Member, value: unknown): void {
  set(member, value);
  if (value instanceof Promise) {
    member.late.push(async () => set(member, await value));
  }
}

function set(member: Member, value: unknown): void {
  Reflect.set(member.holder, member.key, value);
}

function refer({ refs, reader }: Member, value: object): unknown {
  const index: unknown = Reflect.get(value, MESSAGE in value ? MESSAGE : LIST);
  const ref = at(refs, Number(index));
  return typeof ref === "number" ? reader.message(ref) : reader.messages(...ref);
}

/** The closed set of records that JsonPlusSerializer revives. */
export async function construct(record: object): Promise<unknown> {
  const { lc, type } = record as { lc?: unknown; type?: unknown };
  if (lc === 2 && type === "undefined") {
    return undefined;
  }
  if (lc === 2 && type === "delta_snapshot" && "value" in record) {
    return new DeltaSnapshot(record.value);
  }
  if (lc === 2 && type === "constructor") {
    return constructed(record) ?? record;
  }
  if (lc === 1 && type === "constructor" && "id" in record && Array.isArray(record.id)) {
    return load(JSON.stringify(record));
  }
  return record;
}

function constructed(record: object): unknown {
  const { id, method, args } = record as { id?: unknown; method?: unknown; args?: unknown };
  const name: unknown = Array.isArray(id) && id.length === 1 ? id[0] : undefined;
  const isCalled = (method ?? null) === null || (name === "Uint8Array" && method === "from");
  if (!isCalled || !Array.isArray(args) || args.length !== (name === "RegExp" ? 2 : 1)) {
    return undefined;
  }
  const [first, second]: unknown[] = args;
  switch (name) {
    case "Set":
      return Array.isArray(first) ? new Set(first) : undefined;
    case "Map":
      return isEntries(first) ? new Map(first) : undefined;
    case "RegExp":
      return typeof first === "string" && typeof second === "string"
        ? regExp(first, second)
        : undefined;
    case "Error":
      return typeof first === "string" ? new Error(first) : undefined;
    case "Uint8Array":
      return areBytes(first) ? Uint8Array.from(first) : undefined;
    default:
      return undefined;
  }
}

function areBytes(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.every((byte) => Number.isInteger(byte) && Number(byte) >= 0 && Number(byte) <= 255)
  );
}

function entriesOf(value: unknown): [unknown, unknown][] {
  return isEntries(value) ? value : [];
}

function isEntries(value: unknown): value is [unknown, unknown][] {
  return Array.isArray(value) && value.every((entry) => Array.isArray(entry) && entry.length === 2);
}

function regExp(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

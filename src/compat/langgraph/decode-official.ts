import type { BaseMessage } from "@langchain/core/messages";

import { RepriseError } from "../../core/errors.ts";
import { construct } from "../../langgraph/messages/decode.ts";
import { reviverOf } from "../../langgraph/messages/message-codec.ts";
import { damagedSource } from "./tables.ts";
import type { TypedValue } from "./source.ts";

/**
 * Messages by their text: an official saver has each message once in every checkpoint. Messages
 * without an id are not kept: two of the same text are two messages.
 */
export interface SeenMessages {
  readonly byText: Map<string, BaseMessage>;
  length: number;
}

export function createSeenMessages(): SeenMessages {
  return { byText: new Map(), length: 0 };
}

/**
 * A value as LangGraph's JsonPlusSerializer reads it.
 *
 * Error codes: `database_corrupt` if it is not JSON; `database_unsupported` if another serializer
 * wrote it.
 */
export async function decodeTyped(value: TypedValue, seen: SeenMessages): Promise<unknown> {
  switch (value.type) {
    case "json":
      return loaded(parsed(value.content), seen);
    case "bytes":
      return Uint8Array.from(bytesOf(value.content));
    case "msgpack":
    case "null":
      throw new RepriseError(
        "database_unsupported",
        "LangGraph's Python library wrote this thread, as msgpack, which only Python reads. Copy threads of LangGraph.js only.",
      );
    default:
      throw new RepriseError(
        "database_unsupported",
        "A serializer that Reprise does not know wrote a value of this thread. Copy threads that were written with LangGraph's own serializer.",
      );
  }
}

function parsed(content: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof content === "string" ? content : new TextDecoder().decode(content));
  } catch (error) {
    throw error instanceof SyntaxError ? damagedSource() : error;
  }
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}

async function loaded(json: unknown, seen: SeenMessages): Promise<unknown> {
  try {
    return await revived(json, seen);
  } catch (error) {
    if (error instanceof RangeError) {
      throw error;
    }
    throw new RepriseError(
      "database_unsupported",
      "A value of this thread is of a class that LangChain cannot load, so LangGraph's saver cannot read the thread either. Delete the thread in the source.",
      { cause: error },
    );
  }
}

async function revived(json: unknown, seen: SeenMessages): Promise<unknown> {
  const holder: Record<string, unknown> = { value: json };
  const late: (() => Promise<void>)[] = [];
  revive({ holder, key: "value", seen, late });
  for (const apply of late) {
    await apply();
  }
  return holder["value"];
}

interface Member {
  readonly holder: object;
  readonly key: string;
  readonly seen: SeenMessages;
  /** Sets what a record means, innermost first. */
  readonly late: (() => Promise<void>)[];
}

function revive(member: Member): void {
  const { holder, key, seen } = member;
  const value: unknown = Reflect.get(holder, key);
  if (typeof value !== "object" || value === null) {
    return;
  }
  for (const key of Object.keys(value)) {
    revive({ ...member, holder: value, key });
  }
  if ("lc" in value) {
    member.late.push(async () => {
      Reflect.set(
        holder,
        key,
        isMessage(value) ? await messageOf(value, seen) : await construct(value),
      );
    });
  }
}

interface MessageRecord {
  readonly id: readonly string[];
  readonly kwargs: object;
}

function isMessage(record: object): record is MessageRecord {
  const { lc, type, id, kwargs } = record as Partial<Record<string, unknown>>;
  const [library, folder] = Array.isArray(id) ? (id as unknown[]) : [];
  return (
    lc === 1 &&
    type === "constructor" &&
    library === "langchain_core" &&
    folder === "messages" &&
    typeof kwargs === "object" &&
    kwargs !== null
  );
}

/** UTF-16 units of texts that are kept of one thread. */
const MAX_LENGTH = 32 * 1024 * 1024;

async function messageOf({ id, kwargs }: MessageRecord, seen: SeenMessages): Promise<BaseMessage> {
  const text = JSON.stringify([id.length === 3 ? id[2] : id, kwargs]);
  const known = seen.byText.get(text);
  if (known !== undefined) {
    return known;
  }
  const message = await reviverOf(text)();
  if (typeof message.id === "string") {
    if (seen.length + text.length > MAX_LENGTH) {
      seen.byText.clear();
      seen.length = 0;
    }
    seen.byText.set(text, message);
    seen.length += text.length;
  }
  return message;
}

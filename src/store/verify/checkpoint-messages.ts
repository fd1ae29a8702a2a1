import { storableText } from "../../core/text/text.ts";
import { textHash } from "../records/threads/bodies.ts";
import { isDamage } from "../checkpoints/damage.ts";
import { MESSAGES } from "../checkpoints/head-mark.ts";
import type { CheckpointPage, CheckpointRead } from "../checkpoints/read.ts";
import type { BodyRow } from "../tables/checkpoints.ts";
import { joinTemplate } from "../checkpoints/template.ts";
import { MESSAGE, type StoredValue } from "../checkpoints/value.ts";
import { jsonOf } from "../checkpoints/value-json.ts";
import { isWhole, type Referred } from "../checkpoints/whole-value.ts";
import { type MessageJson, readMessage } from "../records/messages/message-json.ts";
import { countOf, isAnswer, mirrorOf, tokenCountOf } from "../records/messages/mirror-row.ts";
import type { MirrorMessage } from "../records/messages/mirror-message.ts";
import type { HeadProblem, Verification, VerifiedThread } from "./read.ts";

/** A message of a thread's latest checkpoint, as its row has to be. */
export interface CheckpointMessage {
  readonly message: MirrorMessage;
  /** Suffix of the thread that holds it. */
  readonly thread: number;
  /**
   * Its position among the messages in the order in which the threads first stored them; that in the
   * checkpoints if what was removed was not read.
   */
  readonly first: number;
  /** When the thread's latest checkpoint was made: the time of a row that has to be created again. */
  readonly ts: string;
}

export interface DamagedThread {
  readonly thread_id: string;
  readonly problem: HeadProblem;
}

/** Messages in the checkpoints of a session, as plain data. */
export interface CheckpointMessages {
  /** In the order of the threads, then of their messages; each id once. */
  readonly messages: readonly CheckpointMessage[];
  /**
   * Messages that the agent has taken out of a thread and whose bodies are still kept,
   * oldest first.
   */
  readonly removed: readonly MirrorMessage[];
  /**
   * True if a provider did not report the input tokens of an answer: they are estimated from the
   * messages before it.
   */
  readonly estimated: boolean;
  /** Threads whose latest checkpoint is damaged: what they say is not known. */
  readonly damaged: readonly DamagedThread[];
}

/** Makes the rows of a session's messages once more from its checkpoints. */
export function checkpointMessages({
  threads,
  lost,
}: Pick<Verification, "threads" | "lost">): CheckpointMessages {
  const messages = new Map<string, Omit<CheckpointMessage, "first">>();
  const firsts = new Map<string, number>();
  const removed: MirrorMessage[] = [];
  const damaged = lost.map((thread_id): DamagedThread => ({ thread_id, problem: "lost" }));
  let estimated = false;
  for (const thread of threads) {
    const { thread_id } = thread;
    const present = verifiedMessages(thread);
    if (present === null) {
      damaged.push({ thread_id, problem: thread.problem ?? "unreadable" });
      continue;
    }
    for (const message of rowsOf(present.map((one) => one.message))) {
      const known = messages.get(message.message_id);
      if (known?.thread === thread.suffix) {
        // which of the two was stored first, and so charged, is not known
        removed.push(known.message, message);
      }
      messages.set(message.message_id, again(known, { message, thread }));
    }
    const gone = removedFrom(thread);
    removed.push(...gone.flatMap(({ message }) => mirrorOf([message], 0) ?? []));
    const all = [...present, ...gone];
    estimated ||= all.some(({ message }) => isUncounted(message));
    for (const id of thread.others === null ? [] : storedIds(all)) {
      firsts.set(id, firsts.get(id) ?? firsts.size);
    }
  }
  return { messages: withFirsts([...messages.values()], firsts), removed, estimated, damaged };
}

/** The ids of messages, in the order in which the thread stored them. */
function storedIds(stored: readonly StoredMessage[]): string[] {
  return stored
    .toSorted((a, b) => a.body - b.body)
    .map(({ message }) => storableText(message.id ?? ""));
}

function withFirsts(
  messages: readonly Omit<CheckpointMessage, "first">[],
  firsts: ReadonlyMap<string, number>,
): CheckpointMessage[] {
  const ids = messages.map(({ message }) => message.message_id);
  const sorted = ids.toSorted((a, b) => (firsts.get(a) ?? 0) - (firsts.get(b) ?? 0));
  const positions = new Map(sorted.map((id, position) => [id, position]));
  return messages.map((one) => ({ ...one, first: positions.get(one.message.message_id) ?? 0 }));
}

/** A message that a later thread has too keeps its place and is charged once, as in the mirror. */
function again(
  known: Omit<CheckpointMessage, "first"> | undefined,
  { message, thread }: { message: MirrorMessage; thread: VerifiedThread },
): Omit<CheckpointMessage, "first"> {
  return known === undefined
    ? { message, thread: thread.suffix, ts: thread.ts }
    : { ...known, message: { ...message, usage: known.message.usage } };
}

function verifiedMessages({
  problem,
  head,
  messages,
}: VerifiedThread): readonly StoredMessage[] | null {
  if (problem !== null || head === null || !isReadable(head.page, head)) {
    return null;
  }
  const bodies = [...messages, ...onlyMessage(head.page)];
  const read = bodies.flatMap(storedMessage);
  return read.length === bodies.length ? read : null;
}

/** The message of a channel that holds one and no list. */
function onlyMessage({ checkpoints: [read], bodies }: CheckpointPage): BodyRow[] {
  const value = read?.channels[MESSAGES];
  if (value === undefined || "l" in value) {
    return [];
  }
  const { json, refs } = jsonOf(value, referredBy({ bodies, lists: [] }).text);
  const isMessage = typeof json === "object" && json !== null && MESSAGE in json;
  const ref = isMessage ? refs[Number(json[MESSAGE])] : undefined;
  return bodies.filter(({ id }) => id === ref);
}

function rowsOf(messages: readonly MessageJson[]): MirrorMessage[] {
  const tokens = messages.map(tokenCountOf);
  return messages.flatMap(
    (_, index) => mirrorOf(messages, index, (place) => tokens[place] ?? 0) ?? [],
  );
}

/** An answer whose provider did not say what it was sent. */
function isUncounted(message: MessageJson): boolean {
  return isAnswer(message) && countOf(message.usage_metadata?.input_tokens) === null;
}

/** Null for a body that is not a message, or has changed since it was stored. */
function unchangedMessage({ body, hash }: BodyRow): MessageJson | null {
  return textHash(body) === hash ? readMessage(body) : null;
}

interface StoredMessage {
  /** The body's id: a thread stores bodies in ascending order. */
  readonly body: number;
  readonly message: MessageJson;
}

function storedMessage(body: BodyRow): StoredMessage[] {
  const message = unchangedMessage(body);
  return message === null ? [] : [{ body: body.id, message }];
}

/** Every message has an id; other texts of a thread are arrays, too. */
function removedFrom({ others }: VerifiedThread): StoredMessage[] {
  return (others ?? []).flatMap(storedMessage).filter(({ message }) => message.id !== undefined);
}

/**
 * True if the next exchange can read all that a checkpoint holds besides its messages: versions,
 * the other channels, what its tasks have written.
 */
function isReadable(
  { checkpoints: [read], bodies, lists }: CheckpointPage,
  { shape_hash }: { readonly shape_hash: string },
): boolean {
  if (read === undefined || textHash(read.shape) !== shape_hash) {
    return false;
  }
  if (bodies.some(({ body, hash }) => textHash(body) !== hash)) {
    return false;
  }
  const known = referredBy({ bodies, lists });
  try {
    return valuesOf(read).every((value) => isWhole(value, known));
  } catch (error) {
    if (isDamage(error)) {
      return false;
    }
    throw error;
  }
}

/** Throws an error that `isDamage` accepts if versions and template do not match. */
function valuesOf({ shape, versions, ...read }: CheckpointRead): StoredValue[] {
  const { [MESSAGES]: messages, ...channels } = read.channels;
  const template = joinTemplate({ shape, numbers: versions });
  const tasks = template.versions.v < 4 ? [...read.writes, ...read.parent_writes] : read.writes;
  return [
    ...Object.values(template.untouched).map((json): StoredValue => [json]),
    ...Object.values(channels),
    // a list of messages is read apart
    ...(messages === undefined || "l" in messages ? [] : [messages]),
    read.metadata,
    ...tasks.flatMap(({ writes }) => writes.map(([, , value]) => value)),
  ];
}

function referredBy(page: Pick<CheckpointPage, "bodies" | "lists">): Referred {
  const bodies = new Map(page.bodies.map((body) => [body.id, body]));
  const lists = new Map(page.lists.map(({ list, items }) => [list, items]));
  const bodyOf = (id: number): BodyRow => {
    const body = bodies.get(id);
    if (body === undefined) {
      throw new RangeError("a checkpoint refers to a body that was not read with it");
    }
    return body;
  };
  return {
    text: (body) => bodyOf(body).body,
    isMessage: (body) => unchangedMessage(bodyOf(body)) !== null,
    areMessages: (list, length) => {
      const items = lists.get(list)?.slice(0, length);
      return items?.length === length && items.every((item) => unchangedMessage(item) !== null);
    },
  };
}

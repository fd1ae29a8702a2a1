import { isAbsolute, win32 } from "node:path";

import type { Fault } from "../../core/errors.ts";
import { TITLE_LENGTH } from "../../core/limits.ts";
import { isTime } from "../../core/time.ts";
import type {
  PortableList,
  PortableThread,
  SessionTree,
  PortableSession,
} from "./export-schema.ts";
import { SEARCHABLE_CALL } from "../verify/record.ts";
import { type IdMap, mapIds } from "./map-ids.ts";
import { mapMemberIds, mapWriteIds } from "./read-thread.ts";

/**
 * The first inconsistency of a tree that fits the schema; null if there is none. Positions have no
 * gaps, ids are unique, each sub-agent names its parent and is one level below it, and everything
 * that checkpoints refer to exists.
 */
export function inconsistencyOf(tree: SessionTree): Fault | null {
  for (const fault of treeFaults(tree, { pointer: "", ids: new Set() })) {
    return fault;
  }
  return null;
}

interface TreePosition {
  readonly pointer: string;
  /** Session ids met so far. */
  readonly ids: Set<string>;
}

function* treeFaults(tree: SessionTree, { pointer, ids }: TreePosition): Generator<Fault> {
  const { session } = tree;
  if (ids.has(session.id)) {
    yield fault(`${pointer}/session/id`, "Is the id of an earlier session of this file.");
  }
  ids.add(session.id);
  yield* rowFaults(tree, pointer);
  for (const [index, thread] of tree.threads.entries()) {
    const below = `${pointer}/threads/${index}`;
    if (
      thread.suffix > session.thread_suffix ||
      thread.suffix <= (tree.threads[index - 1]?.suffix ?? -1)
    ) {
      yield fault(
        `${below}/suffix`,
        "Must be above the suffix before it and no higher than thread_suffix.",
      );
    }
    yield* threadFaults(thread, below);
  }
  for (const [index, child] of tree.children.entries()) {
    const below = `${pointer}/children/${index}`;
    if (
      child.session.parent_session_id !== session.id ||
      child.session.depth !== session.depth + 1
    ) {
      yield fault(
        `${below}/session`,
        "Must name the session above it as its parent, and be one deeper.",
      );
    }
    if (!hasCall(tree, child.session.parent_call_id)) {
      yield fault(
        `${below}/session/parent_call_id`,
        "Must be the id of a call in the session above it.",
      );
    }
    yield* treeFaults(child, { pointer: below, ids });
  }
}

/** The same question as `sessions verify` asks of the database. */
function hasCall({ messages, threads }: SessionTree, call: string | null): boolean {
  return (
    call === null ||
    !SEARCHABLE_CALL.test(call) ||
    messages.some(({ tool_calls }) => tool_calls?.some(({ id }) => id === call)) ||
    threads.some(({ bodies }) => bodies.some((body) => body.includes(`"${call}"`)))
  );
}

function* threadFaults(thread: PortableThread, pointer: string): Generator<Fault> {
  const seen = new Set<string>();
  for (const [index, body] of thread.bodies.entries()) {
    if (seen.has(body)) {
      yield fault(`${pointer}/bodies/${index}`, "Is in this thread already.");
    }
    seen.add(body);
  }
  for (const [index, list] of thread.lists.entries()) {
    if (!isList(thread, list, index)) {
      yield fault(
        `${pointer}/lists/${index}`,
        "Must begin with an earlier list, or with nothing, and hold bodies of this thread.",
      );
    }
  }
  for (const kind of ["checkpoints", "bodies", "lists"] as const) {
    if (thread.folded[kind] > thread[kind].length) {
      yield fault(`${pointer}/folded/${kind}`, "Must not be more than the thread has.");
    }
  }
  const positions = positionsOf(thread);
  yield* checkpointFaults(thread, { pointer: `${pointer}/checkpoints`, positions });
  yield* writesFaults(thread, { pointer: `${pointer}/writes`, positions });
}

function isList(thread: PortableThread, list: PortableList, index: number): boolean {
  const { base, base_length, items } = list;
  const isBased =
    base === null ? base_length === 0 : base < index && base_length <= lengthOf(thread, base);
  return isBased && items.every((body) => body < thread.bodies.length);
}

function lengthOf(thread: PortableThread, position: number): number {
  const list = thread.lists[position];
  return list === undefined ? -1 : list.base_length + list.items.length;
}

/** The positions of a document themselves: what is not there is refused. */
function positionsOf(thread: PortableThread): IdMap {
  const known = (position: number, isThere: boolean): number => {
    if (!isThere) {
      throw new RangeError("a checkpoint refers to a position that its thread does not have");
    }
    return position;
  };
  return {
    body: (position) => known(position, position < thread.bodies.length),
    list: (position, length) => known(position, length <= lengthOf(thread, position)),
  };
}

interface Checked {
  readonly pointer: string;
  readonly positions: IdMap;
}

function* checkpointFaults(
  { checkpoints }: PortableThread,
  { pointer, positions }: Checked,
): Generator<Fault> {
  const keys = new Set<string>();
  for (const [index, checkpoint] of checkpoints.entries()) {
    const key = JSON.stringify([checkpoint.ns, checkpoint.checkpoint_id]);
    const resolves = succeeds(() => {
      positions.body(checkpoint.shape);
      mapMemberIds(checkpoint.channels, positions);
      mapIds(checkpoint.metadata, positions);
    });
    if (keys.has(key) || !resolves || checkpoint.parent_id === checkpoint.checkpoint_id) {
      yield fault(
        `${pointer}/${index}`,
        "Must be unique, not be its own parent, and refer to bodies and lists that its thread has.",
      );
    }
    keys.add(key);
  }
}

function* writesFaults(
  { writes }: PortableThread,
  { pointer, positions }: Checked,
): Generator<Fault> {
  const keys = new Set<string>();
  for (const [index, { ns, checkpoint_id, task_id, writes: own }] of writes.entries()) {
    const key = JSON.stringify([ns, checkpoint_id, task_id]);
    const resolves = succeeds(() => {
      for (const [at, write] of own.entries()) {
        const [position, channel] = mapWriteIds(write, positions);
        const [before] = own[at - 1] ?? [];
        if (
          !Number.isSafeInteger(position) ||
          typeof channel !== "string" ||
          Number(position) <= Number(before ?? Number.NEGATIVE_INFINITY)
        ) {
          throw new RangeError("this is no write of a task");
        }
      }
    });
    if (keys.has(key) || !resolves) {
      yield fault(
        `${pointer}/${index}`,
        "Must be unique, ascending by index, and refer to bodies and lists that its thread has.",
      );
    }
    keys.add(key);
  }
}

function succeeds(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof RangeError) {
      return false;
    }
    throw error;
  }
}

function fault(pointer: string, message: string): Fault {
  return { pointer, message };
}

/** What no session's row and no message's row could say, although each field has the right form. */
function* rowFaults(tree: SessionTree, pointer: string): Generator<Fault> {
  for (const [name, message] of sessionFaults(tree)) {
    yield { pointer: `${pointer}/session/${name}`, message };
  }
  yield* messageFaults(tree, `${pointer}/messages`);
}

function* sessionFaults({
  session,
  messages,
}: SessionTree): Generator<[keyof PortableSession, string]> {
  if (session.last_seq !== messages.length) {
    yield ["last_seq", "Must be the number of messages."];
  }
  if (session.cleared_seq > session.last_seq) {
    yield ["cleared_seq", "Must be the position of a message."];
  }
  for (const name of ["created_at", "last_message_at", "ended_at", "accepted_at"] as const) {
    const time = session[name] ?? null;
    if (time !== null && !isTime(time)) {
      yield [name, NO_TIME];
    }
  }
  for (const { ts, accepted_at = ts } of session.changes ?? []) {
    if (!isTime(ts) || !isTime(accepted_at)) {
      yield ["changes", NO_TIME];
    }
  }
  if ((session.state === "ended") !== (session.ended_at !== null)) {
    yield ["ended_at", "Must be there in an ended session, and in no other."];
  }
  if (session.failure !== undefined && !session.exchange_open) {
    yield ["failure", "Must be there only in a session whose last exchange is open."];
  }
  if (session.title !== null && Array.from(session.title).length > TITLE_LENGTH) {
    yield ["title", `Must have ${TITLE_LENGTH} characters at most.`];
  }
  const { repo_path, project_key } = session;
  if (repo_path !== null && !isAbsolute(repo_path) && !win32.isAbsolute(repo_path)) {
    yield ["repo_path", "Must be an absolute path."];
  }
  if (project_key !== null && !/^[0-9a-f]{16}$/.test(project_key)) {
    yield ["project_key", "Must be 16 hexadecimal digits."];
  }
  if (project_key !== null && repo_path === null) {
    yield ["project_key", "Must be there only in a session with a repo_path."];
  }
  if (session.parent_session_id === null && session.parent_call_id !== null) {
    yield ["parent_call_id", "Must be there only in a session with a parent."];
  }
  if (session.parent_session_id === null && session.depth !== 0) {
    yield ["depth", "Must be 0 in a session without a parent."];
  }
}

function* messageFaults({ messages }: SessionTree, pointer: string): Generator<Fault> {
  const ids = new Set<string>();
  const keys = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const { seq, message_id, idempotency_key, ts, accepted_at = ts } = message;
    const at = (name: string, message: string): Fault => ({
      pointer: `${pointer}/${index}/${name}`,
      message,
    });
    if (seq !== index + 1) {
      yield at("seq", "Must count from 1 without holes.");
    }
    if (ids.has(message_id)) {
      yield at("message_id", "Is the id of an earlier message of this session.");
    }
    ids.add(message_id);
    if (idempotency_key !== null && keys.has(idempotency_key)) {
      yield at("idempotency_key", "Is the key of an earlier message of this session.");
    }
    keys.add(idempotency_key ?? "");
    if (!isTime(ts)) {
      yield at("ts", NO_TIME);
    }
    if (!isTime(accepted_at)) {
      yield at("accepted_at", NO_TIME);
    }
  }
}

const NO_TIME = "Must be a moment that the calendar has.";

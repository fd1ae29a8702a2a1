import { isAbsolute, win32 } from "node:path";

import type { Fault } from "../../core/errors.ts";
import { TITLE_LENGTH } from "../../core/limits.ts";
import { isTime } from "../../core/time.ts";
import type { PortableSession, SessionTree } from "./export-schema.ts";

/** What no session's row and no message's row could say, although each field has the right form. */
export function* rowFaults(tree: SessionTree, pointer: string): Generator<Fault> {
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

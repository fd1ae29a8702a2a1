import { isFinal } from "../../core/exchanges.ts";
import { RepriseError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { threadId } from "../../core/threads.ts";
import { textHash } from "../records/threads/bodies.ts";
import { messageListOf } from "../checkpoints/head-mark.ts";
import { type CheckpointRead, wantedBy } from "../checkpoints/read.ts";
import type { BodyRow } from "../tables/checkpoints.ts";
import {
  at,
  type ListVersion,
  storedChannels,
  storedValue,
  storedWrite,
} from "../checkpoints/value.ts";
import type { Store } from "../store.ts";
import type { Verification, VerifiedThread } from "../verify/read.ts";
import type { MirrorCounters } from "../verify/mirror.ts";
import { countersOf, firstMirrorDifference } from "../verify/verify-session.ts";
import { type SessionTree, sessionsOf } from "./export-schema.ts";
import type { PortableCheckpoint, PortableThread } from "./portable-threads.ts";
import { messageRow, writeSessionTree } from "./write-tree.ts";

/**
 * Stores what an export holds if `sessions verify` would find nothing in it: the messages have to
 * be those of the checkpoints. They are compared before the transaction, so that other writers do
 * not wait for it. Returns the ids of the sessions, each after its parent's.
 *
 * Error codes: as `writeSessionTree`; `export_invalid` with the first difference.
 */
export async function importTree(store: Store, tree: SessionTree): Promise<readonly string[]> {
  verifyTree(tree);
  return store.write(writeSessionTree, { tree });
}

/** Reads nothing but the tree, which `parseExport` has checked. Error codes: `export_invalid`. */
export function verifyTree(tree: SessionTree): void {
  for (const one of sessionsOf(tree)) {
    const difference = firstMirrorDifference((removed) => verificationOf(one, removed));
    if (difference !== null) {
      throw new RepriseError(
        "export_invalid",
        "The messages of this export are not those of its checkpoints, so nothing was imported. Run `reprise sessions repair` for this session in its database and export it again.",
        { faults: [{ pointer: one.session.id, message: difference }] },
      );
    }
  }
}

/** Computes the counters that `sessions verify` asks for, of the session alone. */
export function expectedCounters(tree: SessionTree): MirrorCounters {
  return countersOf((removed) => verificationOf(tree, removed));
}

/** Returns what `readVerification` would read if the session were stored. */
function verificationOf({ session, messages, threads }: SessionTree, removed: boolean) {
  const verified = threads.flatMap((thread) => {
    const head = thread.checkpoints.findLast(({ ns }) => ns === "");
    return head === undefined
      ? []
      : [verifiedThread(thread, { head, session_id: session.id, removed })];
  });
  return {
    session_id: session.id,
    counters: { ...session, input_tokens_ahead: session.input_tokens_ahead ?? 0 },
    agent: session.agent ?? null,
    forked_from_seq: session.forked_from_seq ?? null,
    rows: messages.map((message) => messageRow(session.id, message)),
    // storing a thread marks its latest checkpoint, in whichever row that comes to be
    heads: verified.map((thread) => ({ ...thread, head_row: 1 })),
    lost: [],
    threads: verified,
  } satisfies Verification;
}

function verifiedThread(
  thread: PortableThread,
  { head, session_id, removed }: { head: PortableCheckpoint; session_id: string; removed: boolean },
): VerifiedThread {
  const body = (position: number): BodyRow => {
    const text = at(thread.bodies, position);
    return { id: position, hash: textHash(text), body: text };
  };
  const thread_id = threadId(session_id, thread.suffix);
  const read = checkpointOf(thread, { head, thread_id });
  const wanted = wantedBy([read]);
  const lists = [...wanted.lists].map(([list, length]) => {
    const items = itemsOf(thread, { list, length }).map(body);
    return { list, length, start: null, first: 0, items, isShownOnly: false };
  });
  const version = messageListOf(read.channels);
  const messages = lists.find(({ list }) => list === version?.list)?.items ?? [];
  const present = messages.slice(0, version?.length ?? 0);
  const known = new Set(present.map(({ id }) => id));
  const shape = body(head.shape);
  return {
    thread_id,
    suffix: thread.suffix,
    ts: head.ts,
    problem: null,
    messages: present,
    head: {
      page: { checkpoints: [read], lists, bodies: [...wanted.bodies].map(body) },
      shape_hash: shape.hash,
    },
    others: removed
      ? thread.bodies.flatMap((_, position) => (known.has(position) ? [] : [body(position)]))
      : null,
  };
}

/** The checkpoint as read from the database, if positions in the export were ids. */
function checkpointOf(
  { bodies, writes }: PortableThread,
  { head, thread_id }: { readonly head: PortableCheckpoint; readonly thread_id: string },
): CheckpointRead {
  const writesOf = (checkpoint_id: string | null) =>
    writes
      .filter((one) => one.ns === head.ns && one.checkpoint_id === checkpoint_id)
      .map(({ task_id, writes: own }) => ({
        task_id,
        writes: own.map(storedWrite),
      }));
  return {
    ...head,
    row: 1,
    head_row: 1,
    head_length: 0,
    head_hash: "",
    thread: 0,
    thread_id,
    shape: at(bodies, head.shape),
    channels: storedChannels(head.channels),
    metadata: storedValue(head.metadata),
    writes: writesOf(head.checkpoint_id),
    parent_writes: writesOf(head.parent_id),
  };
}

/** Places of the first bodies of a list, which may begin with those of earlier lists. */
function itemsOf({ lists }: PortableThread, { list, length }: ListVersion): number[] {
  const segments: (readonly number[])[] = [];
  let end = length;
  for (let position: number | null = list; position !== null && end > 0;) {
    const { base, base_length, items }: PortableThread["lists"][number] = at(lists, position);
    segments.push(items.slice(0, Math.max(0, end - base_length)));
    end = Math.min(end, base_length);
    position = base;
  }
  return segments.toReversed().flat();
}

/**
 * Returns the sessions without what a node would run by itself: an export may be of somebody else, or of a session
 * that is run elsewhere too. A message that was queued is stopped and keeps its text; what had begun is interrupted.
 * A question waits for a person, because a default answer would continue it.
 */
export function atRest(tree: SessionTree, now: string): SessionTree {
  const exchanges = tree.session.exchanges?.map((exchange) => {
    if (isFinal(exchange.state)) {
      return exchange;
    }
    const { queued_at: _, ...open } = exchange;
    if (open.state !== "queued") {
      return open;
    }
    return open.begun_at === null
      ? { ...open, state: "stopped" as const, ended_at: now }
      : { ...open, state: "interrupted" as const };
  });
  const questions = tree.session.questions?.map((question) =>
    question.state === "open" ? { ...question, default_answer: null, answer_by: null } : question,
  );
  return {
    ...tree,
    session: {
      ...tree.session,
      ...(exchanges === undefined ? {} : { exchanges }),
      ...(questions === undefined ? {} : { questions }),
    },
    children: tree.children.map((child) => atRest(child, now)),
  };
}

/**
 * Returns the sessions under new ids. Threads follow, because their ids are made of the session's; checkpoints name
 * no session, and message ids are unique in their session only, so both stay. Texts stay the same. A copy of a
 * sub-agent is not what its parent's call began.
 */
export function withNewIds(tree: SessionTree): SessionTree {
  const copy = copyBelow(tree, tree.session.parent_session_id);
  return { ...copy, session: { ...copy.session, parent_call_id: null } };
}

function copyBelow(tree: SessionTree, parent_session_id: string | null): SessionTree {
  // a repeated request finds the session that it created, not a copy
  const {
    create_key: _key,
    create_request: _request,
    exchanges,
    questions,
    ...session
  } = tree.session;
  const id = newId();
  const copied = exchanges?.map((exchange) => ({
    ...exchange,
    id: newId(),
    idempotency_key: null,
  }));
  return {
    ...tree,
    session: {
      ...session,
      ...(copied === undefined ? {} : { exchanges: copied }),
      ...(questions === undefined
        ? {}
        : { questions: questions.map((question) => ({ ...question, id: newId() })) }),
      id,
      parent_session_id,
    },
    children: tree.children.map((child) => copyBelow(child, id)),
  };
}

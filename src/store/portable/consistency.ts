import { PLAN_AGENT } from "../../core/plan-runs.ts";
import { phasesOfPlan } from "../records/plans/plan-phases.ts";
import { isAbsolute, win32 } from "node:path";

import { TOKEN_KINDS, usageOf } from "../../core/cost/model-calls.ts";
import type { Fault } from "../../core/errors.ts";
import { MAX_THREAD_ID_BYTES, TITLE_LENGTH } from "../../core/limits.ts";
import { isThreadId } from "../../core/threads.ts";
import { isTime } from "../../core/time.ts";
import { recordProblems } from "../records/exchanges/check.ts";
import { questionProblems } from "../records/questions/check.ts";
import type { PortableSession, SessionTree } from "./export-schema.ts";
import type { FreeThread, PortableList, ThreadContent } from "./portable-threads.ts";
import { SEARCHABLE_CALL } from "../verify/record.ts";
import { type IdMap, mapIds } from "./map-ids.ts";
import { mapMemberIds, mapWriteIds } from "./read-thread.ts";
import { succeeds, unreadableIn } from "./readable-thread.ts";

/**
 * The first inconsistency of a tree that fits the schema; null if there is none. Positions have no
 * gaps, ids are unique, each sub-agent names its parent and is one level below it, and everything
 * that checkpoints refer to exists.
 */
export function inconsistencyOf(tree: SessionTree): Fault | null {
  return treeProblems(tree, "", new Set()).next().value ?? sumProblem(tree);
}

/** Finds an inconsistency in a thread without a session. */
export function threadInconsistencyOf(thread: FreeThread): Fault | null {
  return isThreadId(thread.thread_id)
    ? (threadProblems(thread, "").next().value ?? unreadableIn(thread))
    : problem("/thread_id", `Must have 1 to ${MAX_THREAD_ID_BYTES} bytes of UTF-8.`);
}

/** Tokens or micro-dollars of a tree: far from where a number is not exact any more, also after more requests. */
const MAX_SUM = 1e15;

function sumProblem(tree: SessionTree): Fault | null {
  const sums = usageOf(callsIn(tree));
  const isReadable = [...TOKEN_KINDS, "cost_micros" as const].every(
    (name) => (sums[name] ?? 0) <= MAX_SUM,
  );
  const message = `Must have sums of ${MAX_SUM.toLocaleString("en")} at most, with those of all sub-agents.`;
  return isReadable ? null : problem("/session/model_calls", message);
}

function callsIn({ session, children }: SessionTree): NonNullable<PortableSession["model_calls"]> {
  return [...(session.model_calls ?? []), ...children.flatMap(callsIn)];
}

type Problems = Generator<Fault, undefined>;

/** `ids` are those of the sessions met so far. */
function* treeProblems(tree: SessionTree, pointer: string, ids: Set<string>): Problems {
  const { session } = tree;
  const isNew = !ids.has(session.id);
  yield* broken(`${pointer}/session`, [
    ["id", isNew, "Is the id of an earlier session of this file."],
    ...sessionRules(tree),
  ]);
  ids.add(session.id);
  yield* messageProblems(tree, `${pointer}/messages`);
  const { exchanges = [], questions = [] } = session;
  for (const { index, field, message } of recordProblems(exchanges, session)) {
    const path = index === null ? field : `exchanges/${index}/${field}`;
    yield problem(`${pointer}/session/${path}`, message);
  }
  for (const { index, field, message } of questionProblems(questions, session)) {
    yield problem(`${pointer}/session/questions/${index}/${field}`, message);
  }
  yield* callProblems(tree, `${pointer}/session/model_calls`);
  yield* runProblems(tree, `${pointer}/session/run`);
  for (const [index, thread] of tree.threads.entries()) {
    const below = `${pointer}/threads/${index}`;
    const isAbove = thread.suffix > (tree.threads[index - 1]?.suffix ?? -1);
    const isBegun = thread.suffix <= session.thread_suffix;
    const message = "Must be above the suffix before it and no higher than thread_suffix.";
    yield* broken(below, [["suffix", isAbove && isBegun, message]]);
    yield* threadProblems(thread, below);
  }
  for (const [index, child] of tree.children.entries()) {
    const below = `${pointer}/children/${index}`;
    const { parent_session_id, parent_call_id, depth } = child.session;
    const isBelow = parent_session_id === session.id && depth === session.depth + 1;
    const hasBegun = hasCall(tree, parent_call_id);
    yield* broken(below, [
      ["session", isBelow, "Must name the session above it as its parent, and be one deeper."],
      ["session/parent_call_id", hasBegun, "Must be the id of a call in the session above it."],
    ]);
    yield* treeProblems(child, below, ids);
  }
}

/** Asks what `sessions verify` asks of the database. */
function hasCall({ messages, threads }: SessionTree, call: string | null): boolean {
  return (
    call === null ||
    !SEARCHABLE_CALL.test(call) ||
    messages.some(({ tool_calls }) => tool_calls?.some(({ id }) => id === call)) ||
    threads.some(({ bodies }) => bodies.some((body) => body.includes(`"${call}"`)))
  );
}

function* threadProblems(thread: ThreadContent, pointer: string): Problems {
  const seen = new Set<string>();
  for (const [index, body] of thread.bodies.entries()) {
    if (seen.has(body)) {
      yield problem(`${pointer}/bodies/${index}`, "Is in this thread already.");
    }
    seen.add(body);
  }
  for (const [index, list] of thread.lists.entries()) {
    if (!isList(thread, list, index)) {
      yield problem(
        `${pointer}/lists/${index}`,
        "Must begin with an earlier list, or with nothing, and hold bodies of this thread.",
      );
    }
  }
  for (const kind of ["checkpoints", "bodies", "lists"] as const) {
    if (thread.folded[kind] > thread[kind].length) {
      yield problem(`${pointer}/folded/${kind}`, "Must not be more than the thread has.");
    }
  }
  const positions = positionsOf(thread);
  yield* checkpointProblems(thread, { pointer: `${pointer}/checkpoints`, positions });
  yield* writesProblems(thread, { pointer: `${pointer}/writes`, positions });
}

function isList(thread: ThreadContent, list: PortableList, index: number): boolean {
  const { base, base_length, items } = list;
  const isBased =
    base === null ? base_length === 0 : base < index && base_length <= lengthOf(thread, base);
  return isBased && items.every((body) => body < thread.bodies.length);
}

function lengthOf(thread: ThreadContent, position: number): number {
  const list = thread.lists[position];
  return list === undefined ? -1 : list.base_length + list.items.length;
}

/** Checks that the positions of a document exist, and returns them unchanged. */
function positionsOf(thread: ThreadContent): IdMap {
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

function* checkpointProblems(
  { checkpoints }: ThreadContent,
  { pointer, positions }: Checked,
): Problems {
  const keys = new Set<string>();
  for (const [index, checkpoint] of checkpoints.entries()) {
    const key = JSON.stringify([checkpoint.ns, checkpoint.checkpoint_id]);
    const resolves = succeeds(() => {
      positions.body(checkpoint.shape);
      mapMemberIds(checkpoint.channels, positions);
      mapIds(checkpoint.metadata, positions);
    });
    if (keys.has(key) || !resolves || checkpoint.parent_id === checkpoint.checkpoint_id) {
      yield problem(
        `${pointer}/${index}`,
        "Must be unique, not be its own parent, and refer to bodies and lists that its thread has.",
      );
    }
    keys.add(key);
  }
}

function* writesProblems({ writes }: ThreadContent, { pointer, positions }: Checked): Problems {
  const keys = new Set<string>();
  for (const [index, { ns, checkpoint_id, task_id, writes: own }] of writes.entries()) {
    const key = JSON.stringify([ns, checkpoint_id, task_id]);
    const resolves = succeeds(() => {
      for (const [at, write] of own.entries()) {
        const [position] = mapWriteIds(write, positions);
        const [before] = own[at - 1] ?? [];
        if (position <= Number(before ?? Number.NEGATIVE_INFINITY)) {
          throw new RangeError("this is not a write of a task");
        }
      }
    });
    if (keys.has(key) || !resolves) {
      yield problem(
        `${pointer}/${index}`,
        "Must be unique, ascending by index, and refer to bodies and lists that its thread has.",
      );
    }
    keys.add(key);
  }
}

function problem(pointer: string, message: string): Fault {
  return { pointer, message };
}

/** A field, whether its value is possible, and what it must be. */
type Rule = readonly [field: string, holds: boolean, message: string];

function* broken(pointer: string, rules: readonly Rule[]): Problems {
  for (const [field, holds, message] of rules) {
    if (!holds) {
      yield problem(`${pointer}/${field}`, message);
    }
  }
}

const TIMES = [
  "created_at",
  "last_message_at",
  "ended_at",
  "accepted_at",
  "archived_at",
  "named_at",
  "pinned_at",
  "archive_changed_at",
  "pin_changed_at",
  "metadata_changed_at",
] as const;
const NO_TIME = "Must be a moment that the calendar has.";

/** Rules for each field of a session besides its own form. */
function sessionRules({ session, messages }: SessionTree): Rule[] {
  const { title, repo_path, project_key, parent_session_id, changes = [] } = session;
  const isKey = project_key === null || /^[0-9a-f]{16}$/.test(project_key);
  const isPath = repo_path === null || isAbsolute(repo_path) || win32.isAbsolute(repo_path);
  const hasParent = parent_session_id !== null;
  const hasTimes = changes.every(({ ts, accepted_at = ts }) => isTime(ts) && isTime(accepted_at));
  const endsOnce = (session.state === "ended") === (session.ended_at !== null);
  const mayFail = session.failure === undefined || session.exchange_open;
  return [
    ["last_seq", session.last_seq === messages.length, "Must be the number of messages."],
    ["cleared_seq", session.cleared_seq <= session.last_seq, "Must be the position of a message."],
    ...TIMES.map((name): Rule => [name, isTime(session[name] ?? session.created_at), NO_TIME]),
    ["changes", hasTimes, NO_TIME],
    ["ended_at", endsOnce, "Must be there in an ended session, and in no other."],
    ["failure", mayFail, "Must be there only in a session whose last exchange is open."],
    [
      "title",
      Array.from(title ?? "").length <= TITLE_LENGTH,
      `Must have ${TITLE_LENGTH} characters at most.`,
    ],
    ["repo_path", isPath, "Must be an absolute path."],
    ["project_key", isKey, "Must be 16 hexadecimal digits."],
    [
      "project_key",
      project_key === null || repo_path !== null,
      "Must be there only in a session with a repo_path.",
    ],
    [
      "parent_call_id",
      hasParent || session.parent_call_id === null,
      "Must be there only in a session with a parent.",
    ],
    [
      "forked_from_seq",
      (session.forked_from_session_id === undefined) === (session.forked_from_seq === undefined) &&
        (session.forked_from_seq ?? 0) <= session.last_seq,
      "Must be the position of a message, or 0, in a fork, and in no other session.",
    ],
    ["depth", hasParent || session.depth === 0, "Must be 0 in a session without a parent."],
  ];
}

function* callProblems({ session }: SessionTree, pointer: string): Problems {
  const { model_calls = [], exchange_count = 0 } = session;
  for (const [index, { n, ts, price_micros, price_table }] of model_calls.entries()) {
    const isSorted = n >= (model_calls[index - 1]?.n ?? 0);
    yield* broken(`${pointer}/${index}`, [
      [
        "n",
        isSorted && n <= exchange_count,
        "Must be the number of an exchange, in ascending order.",
      ],
      ["ts", isTime(ts), NO_TIME],
      [
        "price_table",
        (price_table === null) === (price_micros === null),
        "Must be there with a price, and only then.",
      ],
    ]);
  }
}

function* runProblems({ session }: SessionTree, pointer: string): Problems {
  const { run, agent } = session;
  if (run === undefined) {
    return;
  }
  const keys = phasesOfPlan(run.plan)?.map(({ key }) => key) ?? null;
  yield* broken(pointer, [
    ["run_id", agent === PLAN_AGENT, "Must be there only in the session of a run."],
    [
      "phases",
      keys !== null && keys.join(" ") === run.phases.map(({ key }) => key).join(" "),
      "Must be the phases of the plan, in its order.",
    ],
    [
      "options/approve",
      run.options.approve.every((key) => keys?.includes(key) === true),
      "Must be keys of phases.",
    ],
  ]);
  for (const [index, { begun_at, ended_at }] of run.phases.entries()) {
    yield* broken(`${pointer}/phases/${index}`, [
      ["begun_at", begun_at === null || isTime(begun_at), NO_TIME],
      ["ended_at", ended_at === null || isTime(ended_at), NO_TIME],
    ]);
  }
}

function* messageProblems({ messages }: SessionTree, pointer: string): Problems {
  const ids = new Set<string>();
  const keys = new Set<string | null>();
  for (const [index, message] of messages.entries()) {
    const { seq, message_id, idempotency_key: key, ts, accepted_at = ts } = message;
    yield* broken(`${pointer}/${index}`, [
      ["seq", seq === index + 1, "Must count from 1 without holes."],
      ["message_id", !ids.has(message_id), "Is the id of an earlier message of this session."],
      [
        "idempotency_key",
        key === null || !keys.has(key),
        "Is the key of an earlier message of this session.",
      ],
      ["ts", isTime(ts), NO_TIME],
      ["accepted_at", isTime(accepted_at), NO_TIME],
    ]);
    ids.add(message_id);
    keys.add(key);
  }
}

import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import { type PortableSession, type SessionTree, sessionsOf } from "../export-schema.ts";
import { ownId } from "../histories/own-ids.ts";
import { expectedCounters } from "../import-tree.ts";
import { commonLength, historyHash, isPartOf } from "./compare-trees.ts";

/** A history that lost its id to another one, as a fork of what both have. */
export interface KeptFork {
  readonly tree: SessionTree;
  /** The new id of each of its sessions, by the id that it had. */
  readonly ids: ReadonlyMap<string, string>;
}

/**
 * Makes a fork of a history that is apart from the one that keeps the id of the session. It keeps its exchanges and the
 * sub-agents that only it has, and counts what was used after the common part. The id follows from all of that, so databases
 * that keep it each for itself have one fork in the end, and two forks that differ have two ids.
 */
export function keptFork(lost: SessionTree, main: SessionTree): KeptFork {
  const common = commonLength(lost, main);
  const left = withoutShared(lost, main);
  const id = ownId("sync", main.session.id, String(common), historyHash(left));
  const ids = new Map<string, string>();
  const kept = ofFork(left, { id, parent: null, root: id, ids });
  const {
    name: _name,
    named_at: _time,
    archived_at: _at,
    archive_changed_at: _archiveTime,
    pinned_at: _pin,
    pin_changed_at: _pinTime,
    metadata: _data,
    metadata_changed_at: _dataTime,
    model_calls = [],
    ...session
  } = kept.session;
  const own = ownCalls(session, { model_calls, common });
  const fork: SessionTree = {
    ...kept,
    session: {
      ...session,
      parent_call_id: null,
      forked_from_session_id: main.session.id,
      forked_from_seq: common,
      ...(own.length === 0 ? {} : { model_calls: own }),
    },
  };
  return { tree: counted(fork), ids };
}

/** Without the sub-agents that the other history has, too. A plan and an open exchange need all of them. */
function withoutShared(lost: SessionTree, main: SessionTree): SessionTree {
  const { exchange_open, agent } = lost.session;
  const others = new Map(main.children.map((child) => [child.session.id, child]));
  const isShared = (child: SessionTree): boolean => {
    const other = others.get(child.session.id);
    return other !== undefined && isPartOf(child, other);
  };
  return exchange_open || agent === PLAN_AGENT
    ? lost
    : { ...lost, children: lost.children.filter((child) => !isShared(child)) };
}

interface Place {
  readonly id: string;
  readonly parent: string | null;
  readonly root: string;
  /** Filled with the new ids. */
  readonly ids: Map<string, string>;
}

function ofFork(tree: SessionTree, { id, parent, root, ids }: Place): SessionTree {
  // a repeated request finds the session that it created, not the fork
  const { create_key: _key, create_request: _request, ...session } = tree.session;
  const { exchanges, questions } = session;
  ids.set(session.id, id);
  return {
    ...tree,
    session: {
      ...session,
      id,
      parent_session_id: parent,
      ...(exchanges === undefined
        ? {}
        : {
            exchanges: exchanges.map(({ idempotency_key: _own, ...exchange }) => ({
              ...exchange,
              id: ownId("sync", root, exchange.id),
            })),
          }),
      ...(questions === undefined
        ? {}
        : {
            questions: questions.map((each) => ({ ...each, id: ownId("sync", root, each.id) })),
          }),
    },
    // in the order in which a database returns them
    children: tree.children
      .map((child) =>
        ofFork(child, { id: ownId("sync", root, child.session.id), parent: id, root, ids }),
      )
      .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)),
  };
}

function placeOf({ session }: SessionTree): string {
  return `${session.created_at} ${session.id}`;
}

type ModelCalls = NonNullable<PortableSession["model_calls"]>;

/** The requests of models that were made after the common part: the other ones are the origin's. */
function ownCalls(
  { exchanges = [] }: PortableSession,
  { model_calls, common }: { readonly model_calls: ModelCalls; readonly common: number },
): ModelCalls {
  const shared = exchanges.filter(({ first_seq }) => first_seq !== null && first_seq <= common);
  const last = Math.max(0, ...shared.map(({ n }) => n));
  return model_calls.filter(({ n }) => n > last);
}

function counted(fork: SessionTree): SessionTree {
  const { input_tokens_ahead: _, ...session } = fork.session;
  const { total_input_tokens, total_output_tokens, input_tokens_ahead } = expectedCounters(fork);
  return {
    ...fork,
    session: {
      ...session,
      total_input_tokens,
      total_output_tokens,
      ...(input_tokens_ahead === 0 ? {} : { input_tokens_ahead }),
    },
  };
}

/** The messages that each session of a history has in common with another one, by its id. */
export function commonLengths(tree: SessionTree, other: SessionTree): ReadonlyMap<string, number> {
  const others = new Map([...sessionsOf(other)].map((each) => [each.session.id, each] as const));
  return new Map(
    [...sessionsOf(tree)].map((each) => {
      const found = others.get(each.session.id);
      return [each.session.id, found === undefined ? 0 : commonLength(each, found)];
    }),
  );
}

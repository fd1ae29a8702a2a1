import { newId } from "../../core/ids.ts";
import type { SessionTree } from "./export-schema.ts";

/**
 * The same sessions under new ids. Threads follow, because their ids are made of the session's;
 * checkpoints name no session, and message ids are unique in their session only, so both stay.
 * Texts stay the same. A copy of a sub-agent is not what its parent's call began.
 */
export function withNewIds(tree: SessionTree): SessionTree {
  const { session, children } = tree;
  const copy = withId(tree, session.parent_session_id);
  return {
    ...copy,
    session: { ...copy.session, parent_call_id: null },
    children: childrenOf(children, copy.session.id),
  };
}

function withId(tree: SessionTree, parent: string | null): SessionTree {
  // a repeated request finds the session that it created, not a copy
  const { create_key: _key, create_request: _request, ...session } = tree.session;
  return { ...tree, session: { ...session, id: newId(), parent_session_id: parent } };
}

function childrenOf(children: readonly SessionTree[], parent: string): SessionTree[] {
  return children.map((child) => {
    const copy = withId(child, parent);
    return { ...copy, children: childrenOf(child.children, copy.session.id) };
  });
}

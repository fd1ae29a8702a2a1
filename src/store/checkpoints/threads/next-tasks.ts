import type { Repeated } from "../template.ts";
import type { StoredChannels } from "../value.ts";

type Versions = Repeated["versions"];

/**
 * True if LangGraph would start a node from this checkpoint: a channel that triggers it has a value
 * that the node has not seen. Only the graph says which channels trigger which nodes; here it is
 * read from LangGraph's names and from what nodes have seen. If that leaves it open, the answer is
 * true.
 */
export function hasNextTasks(channels: StoredChannels, versions: Versions): boolean {
  const { channel_versions, versions_seen } = versions;
  const seenBy = seenVersions(versions_seen);
  const isNode = (name: string): boolean => Object.hasOwn(versions_seen, name);
  const named = [...seenBy.keys()].every((name) => isNamed(name) || isNode(name));
  // a graph without names has begun, too, when nothing but its input is there
  const anyTriggers = !named || (seenBy.size === 0 && "__input__" in versions_seen);
  const last = Object.values(channel_versions).reduce((a, b) => (b > a ? b : a), 0);
  return Object.entries(channels).some(([name, value]) => {
    if (name === TASKS) {
      return !isEmptyList(value);
    }
    const version = Object.hasOwn(channel_versions, name) ? channel_versions[name] : undefined;
    const seen = seenBy.get(name);
    if (version === undefined || (name.startsWith(JOIN) && !isFull(name, value))) {
      return false;
    }
    if (seen !== undefined) {
      return seen.some((one) => version > one);
    }
    return isNamed(name) || isNode(name) || (anyTriggers && version === last);
  });
}

export const TASKS = "__pregel_tasks";
const JOIN = "join:";

/**
 * Channels that exist to trigger a node. Before `branch:to:`, LangGraph used `__start__:<node>`,
 * `branch:<node>:<condition>:<node>` and the name of the node that ran before.
 */
function isNamed(channel: string): boolean {
  return /^(?:__start__(?:$|:)|branch:|join:)/.test(channel);
}

/** By channel, the version that each node which it triggers has seen. */
function seenVersions(versions_seen: Versions["versions_seen"]) {
  const seenBy = new Map<string, (number | string)[]>();
  for (const [node, seen] of Object.entries(versions_seen)) {
    // versions that `interruptBefore` has seen trigger nothing
    for (const [channel, version] of node === "__interrupt__" ? [] : Object.entries(seen)) {
      seenBy.set(channel, [...(seenBy.get(channel) ?? []), version]);
    }
  }
  return seenBy;
}

/** True if all nodes of a `join:<node>+<node>:<target>` have arrived; a name may have a + itself. */
function isFull(channel: string, value: StoredChannels[string]): boolean {
  const json = "length" in value ? value[0] : null;
  if (!Array.isArray(json)) {
    return true;
  }
  // a deferred target has the form [[node, …], whether everything else has run]
  const arrived = json.flat().filter((node) => typeof node === "string");
  const pieces = new Set(arrived.flatMap((node) => node.split("+")));
  const awaited = channel.slice(JOIN.length, channel.lastIndexOf(":")).split("+");
  return awaited.every((piece) => pieces.has(piece));
}

function isEmptyList(value: StoredChannels[string]): boolean {
  const json = "length" in value ? value[0] : null;
  return Array.isArray(json) && json.length === 0;
}

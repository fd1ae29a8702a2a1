import { MODEL_ATTEMPTS } from "../../../core/limits.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import type { ExchangeEvent } from "../../../exchange/events.ts";
import { mayHaveChanged } from "../../output/tool-lines.ts";
import { inSeconds } from "../text/amounts.ts";
import { cutLine } from "../text/fold.ts";
import { visibleWidth } from "../pi/text.ts";
import { callText, endOf, type Layout, nameOf } from "./tool-rows.ts";

/** Rows of one call's sub-agents, and calls of which the changes are read. */
const MAX_ROWS = 8;
const MAX_CHANGING = 200;
const MAX_REASON = 200;

/** A call of some session: call ids of two sessions may be the same. */
export interface CallKey {
  readonly session_id: string;
  readonly call_id: string;
}

/** The sub-agent of one call. */
interface Node {
  name: string;
  readonly begunAt: number;
  readonly children: Map<string, Node>;
  /** Activity of the sub-agent now. */
  state: string;
  calls: number;
  failed: number;
  session_id: string | null;
  /** Calls that may have changed files. */
  readonly changing: CallKey[];
}

/** Summary of what a call's sub-agents did, at every depth. */
export interface SubAgentsEnd {
  /** `12 calls`, `1 failed`. */
  readonly facts: readonly string[];
  readonly changing: readonly CallKey[];
}

/** The sub-agents of an exchange, at every depth. */
export interface SubAgents {
  /** Takes an event of a sub-agent, or one about a sub-agent; returns false for another event. */
  heard(event: ExchangeEvent): boolean;
  /** Draws what runs for a call with this subject, as a tree; null if nothing does. */
  rows(call: CallKey, layout: Layout, subject: string): string[] | null;
  /** Forgets what ran for the call. */
  end(call: CallKey): SubAgentsEnd;
  /** Sub-agents that run. */
  count(): number;
  clear(): void;
}

export function createSubAgents(now: () => number): SubAgents {
  /** By their call: of the exchange, and of any session that runs for it. */
  const nodes = new Map<string, Node>();
  const sessions = new Map<string, Node>();
  const keyOf = ({ session_id, call_id }: CallKey): string => `${session_id}/${call_id}`;
  const begin = (call: CallKey, name: string): Node => {
    const node: Node = {
      name: nameOf(name),
      begunAt: now(),
      children: new Map(),
      state: "begins",
      calls: 0,
      failed: 0,
      session_id: null,
      changing: [],
    };
    nodes.set(keyOf(call), node);
    sessions.get(call.session_id)?.children.set(keyOf(call), node);
    return node;
  };
  const forget = (key: string, node: Node): void => {
    nodes.delete(key);
    sessions.delete(node.session_id ?? "");
    for (const [childKey, child] of node.children) {
      forget(childKey, child);
    }
  };
  const called = (node: Node, event: Extract<ExchangeEvent, { type: "tool_call" }>): void => {
    const { name, subject } = callText(event);
    node.calls += 1;
    node.state = `${name} ${subject}`;
  };
  const returned = (node: Node, event: Extract<ExchangeEvent, { type: "tool_result" }>): void => {
    node.failed += endOf(event.status) === "failed" ? 1 : 0;
    node.state = "thinks";
    if (mayHaveChanged(event)) {
      node.changing.push({ session_id: event.session_id, call_id: event.call_id });
    }
    const child = node.children.get(keyOf(event));
    if (child !== undefined) {
      node.calls += child.calls;
      node.failed += child.failed;
      node.changing.push(...child.changing);
      node.children.delete(keyOf(event));
      forget(keyOf(event), child);
    }
    node.changing.splice(MAX_CHANGING);
  };
  return {
    heard: (event) => {
      if (event.type === "child") {
        const node = nodes.get(keyOf(event)) ?? begin(event, "");
        node.name = nameOf(event.persona_name);
        node.session_id = event.child_session_id;
        node.state = "thinks";
        sessions.set(event.child_session_id, node);
        return true;
      }
      if (event.type === "child_waiting") {
        const node = nodes.get(keyOf(event)) ?? begin(event, "sub-agent");
        node.state = `waits, ${event.running} run already`;
        return true;
      }
      const node = sessions.get(event.session_id);
      if (node !== undefined && event.type === "tool_call") {
        called(node, event);
      } else if (node !== undefined && event.type === "tool_result") {
        returned(node, event);
      } else if (node !== undefined && event.type === "retry") {
        const reason = oneLine(event.reason.slice(0, MAX_REASON));
        node.state = `asks again (${event.attempt} of ${MODEL_ATTEMPTS}): ${reason}`;
      }
      return node !== undefined;
    },
    rows: (call, layout, subject) => {
      const root = nodes.get(keyOf(call));
      return root === undefined ? null : treeRows(root, layout, { now: now(), subject });
    },
    end: (call) => {
      const node = nodes.get(keyOf(call));
      if (node === undefined) {
        return { facts: [], changing: [] };
      }
      forget(keyOf(call), node);
      const { calls, failed, changing } = node;
      const facts = calls === 0 ? [] : [plural(calls, "call")];
      return { facts: failed === 0 ? facts : [...facts, `${failed} failed`], changing };
    },
    count: () => nodes.size,
    clear: () => {
      nodes.clear();
      sessions.clear();
    },
  };
}

interface TreeLine {
  readonly depth: number;
  readonly name: string;
  readonly text: string;
}

function treeRows(
  root: Node,
  { theme, width }: Layout,
  { now, subject }: { readonly now: number; readonly subject: string },
): string[] {
  const lines = [...treeLines(root, 0, now)];
  const task = subject.startsWith(`${root.name}: `) ? subject.slice(root.name.length + 2) : subject;
  const shown = lines.length > MAX_ROWS ? lines.slice(0, MAX_ROWS - 1) : lines;
  const hidden = lines.length - shown.length;
  const rows = shown.map(({ depth, name, text }) => {
    const mark = depth === 0 ? "•" : `${"  ".repeat(depth)}└`;
    const room = Math.max(1, width - visibleWidth(mark) - 1);
    const named = cutLine(name, room);
    const left = room - visibleWidth(named) - 2;
    // what it does may take the half of the row
    const begin = depth === 0 && task !== "" ? `${cutLine(task, Math.max(1, left >> 1))} · ` : "";
    return `${theme.accent(mark)} ${theme.bold(named)}${left > 0 ? `  ${theme.dim(cutLine(`${begin}${text}`, left))}` : ""}`;
  });
  return hidden === 0
    ? rows
    : [...rows, theme.dim(cutLine(`  … ${plural(hidden, "more sub-agent")}`, width))];
}

function* treeLines(node: Node, depth: number, now: number): Generator<TreeLine> {
  const calls = node.calls === 0 ? [] : [plural(node.calls, "call")];
  const text = [inSeconds(now - node.begunAt), ...calls, node.state].join(" · ");
  yield { depth, name: node.name, text };
  for (const child of node.children.values()) {
    yield* treeLines(child, depth + 1, now);
  }
}

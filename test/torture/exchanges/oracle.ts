import { expect } from "vitest";

import { OUTCOME_UNKNOWN } from "../../../src/core/text/outcome-unknown.ts";
import { NOT_RUN } from "../../../src/agent/messages/thread-state.ts";
import { MAX_ATTEMPTS } from "../../../src/core/exchanges.ts";
import type { Message } from "../../../src/core/sessions.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Reply, Sent } from "./clients.ts";
import type { Nodes } from "./nodes.ts";
import { expectAnswered, expectConsent } from "./oracle-questions.ts";
import { readEffects } from "./effects.ts";
import { nameOf, readRows, type RecordRow, recordsOf, type Rows, selectQuestions } from "./rows.ts";
import { type Asked, indexOf, rootTag, scriptedIn, textOf } from "./script.ts";

/** A file in the folder of all sessions. */
export const NOTE = "note.txt";

/** All that was seen from outside, and the rows at the end. */
export interface Evidence {
  readonly store: Store;
  readonly nodes: Nodes;
  readonly sent: readonly Sent[];
  readonly replies: readonly Reply[];
  /** Records without a message that continue what a failed exchange has left, by its name. */
  readonly continued: ReadonlyMap<string, number | null>;
  /** The file to which the unsafe tools appended. */
  readonly effects: string;
}

/**
 * Compares what the model, the unsafe tools and the clients have seen with records, questions and
 * messages: each posted message was answered once and in order, and no call took effect twice, or without
 * a yes if it asks for one.
 */
export async function expectSound(evidence: Evidence): Promise<void> {
  const { store, nodes } = evidence;
  expect(nodes.violations, nodes.violations.join("; ")).toEqual([]);
  const rows = await readRows(store);
  const messages = new Map<string, readonly Message[]>();
  for (const { id } of rows.sessions) {
    const input = { session_id: id, after_seq: 0, all: true, limit: 1_000_000 };
    messages.set(id, await store.read(readMessagesAfter, input));
  }
  for (const { id, parent_session_id } of rows.sessions) {
    if (parent_session_id === null) {
      expectRecords(evidence, recordsOf(rows, id), messages.get(id) ?? []);
    }
  }
  const all = [...messages.values()].flat();
  expectAnswers(nodes, all);
  expectNothingLater(evidence, rows);
  expectEffects(evidence, all);
  const questions = await store.read(selectQuestions, null);
  expectAnswered(questions, evidence.replies);
  expectConsent(questions, { messages: all, effects: readEffects(evidence.effects) });
  expectResults(evidence, all);
  expectSubAgents(rows, messages);
}

/** The records of one session, with what its messages say. */
function expectRecords(
  { nodes, sent, continued }: Evidence,
  records: readonly RecordRow[],
  messages: readonly Message[],
): void {
  const texts: string[][] = [];
  for (const [index, record] of records.entries()) {
    const name = nameOf(record);
    const message = sent.find((each) => nameOf(each) === name);
    const deaths = nodes.deaths.get(name) ?? 0;
    const [before] = records
      .slice(0, index)
      .filter(({ begun_at }) => begun_at !== null)
      .slice(-1);
    if (record.begun_at !== null && before !== undefined) {
      expect(record.begun_at >= (before.ended_at ?? "z"), `${name} began too early`).toBe(true);
    }
    const isSuperseded = sent.some(
      ({ session_id, supersedes, n }) =>
        supersedes && session_id === record.session_id && n > record.n,
    );
    const states = [
      ...(message === undefined ? ["done", "failed"] : statesOf(message, deaths)),
      ...(isSuperseded ? ["stopped"] : []),
    ];
    expect(states, `${name} ${message?.tag}: its state`).toContain(record.state);
    if (record.state !== "stopped") {
      expect(record.attempts, `${name}: processes that died with it`).toBe(deaths);
    }
    const isUsedUp = record.attempts - record.attempts_before >= MAX_ATTEMPTS;
    expect(record.state === "failed", `${name}: failed`).toBe(
      isUsedUp && record.state !== "stopped",
    );
    if (record.state === "failed") {
      expect(record.error_code, name).toBe("attempts_used_up");
      expect(continued.has(name), `${name} failed and nobody saw it`).toBe(true);
    }
    if (message !== undefined && record.begun_at !== null) {
      texts.push(message.versions.map((version) => textOf({ ...message, version })));
    }
    if (message !== undefined && record.state === "done") {
      expectAnswer(message, messages);
    }
  }
  const users = messages.filter(({ role }) => role === "user").map(({ content }) => content);
  expect(users.length, `messages of ${records[0]?.session_id}`).toBe(texts.length);
  for (const [index, allowed] of texts.entries()) {
    expect(allowed).toContain(users[index]);
  }
}

function statesOf({ withdrawn, stopped }: Sent, deaths: number): readonly string[] {
  if (withdrawn === "yes") {
    return ["stopped"];
  }
  return [
    // with progress in between, it was tried again
    ...(deaths < MAX_ATTEMPTS ? ["done"] : ["done", "failed"]),
    ...(withdrawn === "maybe" || stopped !== "no" ? ["stopped"] : []),
  ];
}

/** One user message, and one last answer to it before the next one. */
function expectAnswer({ tag }: Sent, messages: readonly Message[]): void {
  const at = messages.findIndex(
    ({ role, content }) => role === "user" && scriptedIn(content).tag === tag,
  );
  const after = messages.slice(at + 1);
  const end = after.findIndex(({ role }) => role === "user");
  const own = end === -1 ? after : after.slice(0, end);
  const answers = own.filter(({ role, tool_calls }) => role === "assistant" && tool_calls === null);
  expect(
    answers.map(({ content }) => content),
    tag,
  ).toEqual([expect.stringMatching(new RegExp(`^answer \\d+ to ${tag} v`))]);
  const calls = own.flatMap(({ tool_calls }) => tool_calls ?? []);
  const results = own.filter(({ role }) => role === "tool");
  expect(results.length, `results for ${tag}`).toBe(calls.length);
}

/** Each stored answer is what the model gave, and only a process that ended lost one. */
function expectAnswers({ asked, all, stopped }: Nodes, messages: readonly Message[]): void {
  const stored = new Set<number>();
  for (const message of messages.filter(({ role }) => role === "assistant")) {
    const index = indexOf(message.content);
    if (index === null) {
      expect(stopped.size, `half an answer: ${message.content}`).toBeGreaterThan(0);
      continue;
    }
    expect(stored.has(index), `the answer to request ${index} is stored twice`).toBe(false);
    stored.add(index);
  }
  for (const lost of asked.filter(({ index }) => !stored.has(index))) {
    const { node, tag, index } = lost;
    const next = asked.find((each) => each.index > index && each.tag === tag);
    const later = next !== undefined && isOfSame(next, lost) ? next : undefined;
    const hasEnded = all.some(({ name, wasEnded }) => name === node && wasEnded);
    const wasStopped = stopped.has(rootTag(tag));
    expect(hasEnded || wasStopped, `${node} lost the answer to ${index} of ${tag}`).toBe(true);
    expect(later, `${node} asked for ${tag} again after ${index}`).toBeUndefined();
  }
}

/** A node that was frozen may run again what it lost then. */
function isOfSame(one: Asked, other: Asked): boolean {
  return one.node === other.node && one.isLate === other.isLate;
}

/** Once an exchange has ended, the model is not asked for it. */
function expectNothingLater({ sent, nodes }: Evidence, { records }: Rows): void {
  const byName = new Map(records.map((record) => [nameOf(record), record]));
  const ended = new Map(
    sent.map((each) => {
      const record = byName.get(nameOf(each));
      // another one may continue what a failed one has left
      return [each.tag, record?.state === "failed" ? null : record?.ended_at];
    }),
  );
  const later = nodes.asked.filter(({ tag, at, isLate }) => {
    const time = ended.get(rootTag(tag));
    return !isLate && typeof time === "string" && at > Date.parse(time) + 1;
  });
  expect(later, "asked after the end").toEqual([]);
}

/** No call has taken effect twice, and one with a result of the tool once. */
function expectEffects({ effects, nodes }: Evidence, messages: readonly Message[]): void {
  const counts = new Map<string, number>();
  for (const { what } of readEffects(effects)) {
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  expect(
    [...counts].filter(([, count]) => count !== 1),
    "calls that took effect twice",
  ).toEqual([]);
  const tags = new Set(nodes.asked.map(({ tag }) => tag));
  expect([...counts.keys()].filter((what) => !tags.has(what.split("/")[0] ?? ""))).toEqual([]);
  const paid = messages.flatMap(({ role, content }) =>
    role === "tool" ? (/^(?:paid|bought) (\S+)$/.exec(content)?.[1] ?? []) : [],
  );
  expect(paid.filter((what) => counts.get(what) !== 1)).toEqual([]);
  expect(paid.length).toBe(new Set(paid).size);
}

/** A sub-agent was begun once for each call, and did what it was asked once. */
function expectSubAgents(rows: Rows, messages: ReadonlyMap<string, readonly Message[]>): void {
  const asked = new Map<string, string>();
  for (const { id, parent_session_id } of rows.sessions) {
    const tasks = (messages.get(id) ?? []).filter(({ role }) => role === "user");
    if (parent_session_id !== null && tasks.length > 0) {
      const tags = tasks.map(({ content }) => scriptedIn(content).tag);
      expect(tags, id).toHaveLength(1);
      const [tag = ""] = tags;
      expect(asked.has(tag), `${tag} has two sub-agents: ${asked.get(tag)}, ${id}`).toBe(false);
      asked.set(tag, id);
    }
  }
}

/** Each result is what a tool or a sub-agent returned, or says that nobody knows. */
function expectResults({ nodes }: Evidence, messages: readonly Message[]): void {
  for (const { content, seq, session_id } of messages.filter(({ role }) => role === "tool")) {
    const [, index, tag] = /^answer (\d+) to (\S+\.child\S+) v1$/.exec(content) ?? [];
    const isKnown =
      content === OUTCOME_UNKNOWN ||
      content === NOT_RUN ||
      /^(?:paid|bought|refused) \S+$/.test(content) ||
      /^reply by \d+\n\nby \d+$/.test(content) ||
      // the installed program has no such tool: it runs what no process had begun, and a thread declares the tools of its
      // first call
      /^Error: (?:Tool "(?:pay|buy|order)" not found\.|there is no tool of this name; your tools are: )/.test(
        content,
      ) ||
      content.includes(NOTE) ||
      (tag !== undefined && nodes.asked[Number(index)]?.tag === tag) ||
      (nodes.stopped.size > 0 && content.includes("the sub-agent was stopped"));
    expect(isKnown, `result ${seq} of ${session_id}: ${content}`).toBe(true);
  }
}

import { isAbsolute } from "node:path";

import { isPlainId } from "../../core/ids.ts";
import { MAX_METADATA_VALUE } from "../../core/labels.ts";
import { MAX_PATH_LENGTH, MAX_SUBAGENT_DEPTH } from "../../core/limits.ts";
import { isStorableText, storableText, titleOf } from "../../core/text/text.ts";
import type { PortableMessage, SessionTree } from "../../store/portable/export-schema.ts";
import { NO_PROJECT } from "../../store/project-id.ts";
import { readMessage } from "../../store/records/messages/message-json.ts";
import { mirrorOf, tokenCountOf } from "../../store/records/messages/mirror-row.ts";
import { originOf } from "../../store/records/messages/mirror.ts";
import { bodyOf } from "./bodies.ts";
import type { AnswerEntry, ChildHistory, ForeignCall, History } from "./history.ts";
import { ownCallId, ownId } from "../../store/portable/histories/own-ids.ts";
import { FolderProjects } from "./folder-projects.ts";
import { paired, type PairedEntry } from "./paired.ts";
import { turnsThread } from "./turns-thread.ts";

/**
 * Makes a session of a history, with its sub-agents. Its ids follow from those of the program, so the same history
 * gives the same session, and a longer one gives the same messages and more.
 *
 * `now` is the time of what has none. `projects` remembers folders of other histories.
 */
export function sessionTreeOf(
  history: History,
  now: string,
  projects = new FolderProjects(),
): Promise<SessionTree> {
  return treeOf(history, { parent: null, call_id: null, depth: 0, now, projects });
}

interface Place {
  readonly parent: string | null;
  readonly call_id: string | null;
  readonly depth: number;
  readonly now: string;
  readonly projects: FolderProjects;
}

async function treeOf(history: History, place: Place): Promise<SessionTree> {
  const { program, entries } = history;
  const id = ownId(program, history.id);
  const names = new CallNames(id);
  const placed = begun(paired(entries, names.nameOf));
  const { bodies, messages } = contentOf(history, placed, place.now);
  const times = messages.map(({ ts }) => ts);
  const created_at = [history.created, times[0]].find((time) => typeof time === "string");
  const repo_path = folderOf(history);
  const { project_key, project_id } =
    repo_path === null ? NO_PROJECT : await place.projects.of(repo_path);
  const first = messages.find(({ role }) => role === "user");
  const children: SessionTree[] = [];
  const taken = new Set<string>();
  for (const child of place.depth < MAX_SUBAGENT_DEPTH ? history.children : []) {
    const call_id = callOf(child, names, taken);
    children.push(await treeOf(child, { ...place, parent: id, call_id, depth: place.depth + 1 }));
  }
  return {
    session: {
      id,
      state: "active",
      persona_name: null,
      model: null,
      repo_path,
      project_key,
      title: first === undefined ? null : titleOf(first.content),
      plan_mode: false,
      parent_session_id: place.parent,
      parent_call_id: place.call_id,
      depth: place.depth,
      total_input_tokens: 0,
      total_output_tokens: writtenTokens(messages),
      thread_suffix: 0,
      last_seq: messages.length,
      cleared_seq: 0,
      created_at: created_at ?? place.now,
      last_message_at: times.at(-1) ?? null,
      ended_at: null,
      exchange_open: false,
      ...(project_id === null ? {} : { project_id }),
      metadata: { imported_from: program, imported_id: labelOf(history.id) },
    },
    messages,
    threads: messages.length === 0 ? [] : [turnsThread(bodies, messages)],
    children,
  };
}

/** Counts what answers of these messages add to the total. */
function writtenTokens(messages: readonly PortableMessage[]): number {
  return messages
    .filter(({ role }) => role === "assistant")
    .reduce((sum, { token_count }) => sum + token_count, 0);
}

function labelOf(id: string): string {
  return storableText(id).slice(0, MAX_METADATA_VALUE).toWellFormed();
}

/** A path that may be the folder of a session; it is nothing but a name until a person works in it. */
function folderOf({ folder }: History): string | null {
  const isPath =
    folder !== null &&
    isAbsolute(folder) &&
    isStorableText(folder) &&
    folder.length <= MAX_PATH_LENGTH;
  return isPath ? folder : null;
}

/** Providers refuse a conversation that begins with an answer; the program's file may have lost its beginning. */
function begun(entries: readonly PairedEntry[]): readonly PairedEntry[] {
  const [first] = entries;
  return first === undefined || first.kind === "user"
    ? entries
    : [{ kind: "user", id: "", ts: first.ts, text: BEGIN_MISSING }, ...entries];
}

const BEGIN_MISSING = "[The beginning of this conversation is missing.]";

/** Ids of the calls of a session: those of the program, if each is one that every provider takes. */
class CallNames {
  readonly #session: string;
  readonly #used = new Set<string>();
  /** By the ids that the program gave them. */
  readonly #own = new Map<string, string>();

  constructor(session: string) {
    this.#session = session;
  }

  readonly nameOf = (call: ForeignCall, answer: AnswerEntry, index: number): string => {
    const isOwn = isPlainId(call.id) && !this.#used.has(call.id) && call.name !== "delegate";
    const own = isOwn ? call.id : ownCallId(this.#session, answer.id, String(index), call.id);
    this.#used.add(own);
    this.#own.set(call.id, own);
    return own;
  };

  ownIdOf(call_id: string | null): string | null {
    return call_id === null ? null : (this.#own.get(call_id) ?? null);
  }
}

/** A call begins one sub-agent. */
function callOf({ call_id }: ChildHistory, names: CallNames, taken: Set<string>): string | null {
  const own = names.ownIdOf(call_id);
  if (own === null || taken.has(own)) {
    return null;
  }
  taken.add(own);
  return own;
}

interface Content {
  readonly bodies: readonly string[];
  readonly messages: readonly PortableMessage[];
}

function contentOf(history: History, entries: readonly PairedEntry[], now: string): Content {
  const { program } = history;
  const nameOf = (entry: PairedEntry): string =>
    entry.kind === "result"
      ? ownId(program, history.id, "result", entry.call.own_id)
      : ownId(program, history.id, entry.kind, entry.id);
  const ids = eachOnce(entries.map(nameOf));
  const keptFrom = keptIds(entries, ids);
  const bodies = entries.map((entry, at) => {
    const id = ids[at] ?? "";
    return bodyOf(entry, { id, program, kept_from: keptFrom.get(at) ?? id });
  });
  let ts = history.created ?? now;
  const messages = bodies.map((body, at) => {
    ts = entries[at]?.ts ?? ts;
    return messageOf(body, at + 1, ts);
  });
  return { bodies, messages };
}

/** Gives an id that comes again another one: ids of a damaged file may be missing. */
function eachOnce(ids: readonly string[]): readonly string[] {
  const times = new Map<string, number>();
  return ids.map((id) => {
    const before = times.get(id) ?? 0;
    times.set(id, before + 1);
    return before === 0 ? id : ownId(id, String(before));
  });
}

/** For each summary, the id of the first message that it keeps; results stay with their answer. */
function keptIds(entries: readonly PairedEntry[], ids: readonly string[]): Map<number, string> {
  const positions = new Map<string, number>();
  const kept = new Map<number, string>();
  for (const [at, entry] of entries.entries()) {
    if (entry.kind === "summary") {
      let from = entry.kept_from === null ? undefined : positions.get(entry.kept_from);
      while (from !== undefined && entries[from]?.kind === "result") {
        from -= 1;
      }
      const id = from === undefined ? undefined : ids[from];
      if (id !== undefined) {
        kept.set(at, id);
      }
    } else {
      const id = entry.kind === "result" ? entry.result?.id : entry.id;
      positions.set(id ?? "", at);
    }
  }
  return kept;
}

function messageOf(body: string, seq: number, ts: string): PortableMessage {
  const json = readMessage(body);
  const row = json === null ? null : mirrorOf([json], 0, () => tokenCountOf(json));
  if (row === null) {
    throw new TypeError("a message of a history that cannot be stored");
  }
  const { message_id, role, content, tool_calls, token_count, is_summary, call_id, status } = row;
  const origin = originOf(row);
  return {
    seq,
    message_id,
    role,
    content,
    tool_calls: tool_calls === null ? null : [...tool_calls],
    token_count,
    is_summary,
    archived: false,
    ts,
    checkpointed: true,
    idempotency_key: null,
    ...(origin === null ? {} : { origin }),
    ...(typeof call_id === "string" ? { call_id } : {}),
    ...(status === null || status === undefined ? {} : { status }),
  };
}

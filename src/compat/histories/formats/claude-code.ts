import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";

import { Branch } from "../branch.ts";
import { readChildren } from "../children.ts";
import { Collected } from "../collected.ts";
import {
  argsIn,
  blocksText,
  type Fields,
  fieldsIn,
  listIn,
  nameIn,
  textIn,
  timeIn,
} from "../fields.ts";
import type { AnswerEntry, ChildHistory, Entry, ForeignCall, History } from "../history.ts";
import { jsonLines } from "../lines.ts";

/**
 * Reads a conversation of Claude Code: `~/.claude/projects/<folder>/<id>.jsonl`, a line for each block of a message.
 * Sub-agents are in `<id>/subagents` beside it.
 *
 * Error codes: `file_unreadable`, `export_invalid`, `body_too_large`.
 */
export async function readClaudeCode(source: string): Promise<History> {
  const reader = await readFile(source);
  const history = reader.history();
  const { children, problems } = await readChildren(await subagentFiles(source), (file) =>
    readChild(file, reader.callsOfAgents, history),
  );
  return { ...history, children, problems: [...history.problems, ...problems] };
}

async function readFile(source: string): Promise<Reader> {
  const reader = new Reader(source);
  for await (const line of jsonLines(source)) {
    if (line.problem === undefined) {
      reader.add(line.number, fieldsIn(line.value));
    } else {
      reader.collected.report(line.problem);
    }
  }
  return reader;
}

async function subagentFiles(source: string): Promise<string[]> {
  const folder = join(source.replace(/\.jsonl$/, ""), "subagents");
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(folder, name));
}

async function readChild(
  file: string,
  callsOfAgents: ReadonlyMap<string, string>,
  parent: History,
): Promise<ChildHistory> {
  const agent = basename(file, ".jsonl").replace(/^agent-/, "");
  const history = (await readFile(file)).history();
  return { ...history, id: `${parent.id}/${agent}`, call_id: callsOfAgents.get(agent) ?? null };
}

/** Texts that the program wrote for commands that the model did not see. */
const NOT_SAID =
  /^\s*<(?:command-(?:name|message|args)|local-command-[a-z]+|bash-(?:input|stdout|stderr))>/;

interface Placed {
  readonly uuid: string;
  readonly entry: Entry;
}

class Reader {
  readonly collected: Collected;
  /** Ids of calls, by the agents that they began. */
  readonly callsOfAgents = new Map<string, string>();
  readonly #branch = new Branch();
  readonly #placed: Placed[] = [];
  /** Positions in the list, by the ids of answers. */
  readonly #answers = new Map<string, number>();
  #id: string | null = null;
  #folder: string | null = null;
  #created: string | null = null;
  #keptFrom: string | null = null;

  constructor(source: string) {
    this.collected = new Collected(source);
  }

  add(number: number, line: Fields): void {
    const uuid = nameIn(line["uuid"]);
    const isMessage = line["type"] === "user" || line["type"] === "assistant";
    this.#id ??= nameIn(line["sessionId"]);
    this.#folder ??= nameIn(line["cwd"]);
    if (uuid === null) {
      if (isMessage) {
        const message = "has no uuid";
        this.collected.report({ source: this.collected.source, line: number, message });
      }
      return;
    }
    this.#created ??= timeIn(line["timestamp"]);
    const before = nameIn(line["parentUuid"]) ?? nameIn(line["logicalParentUuid"]);
    this.#branch.add(uuid, before, isMessage);
    if (line["type"] === "user") {
      this.#addUser(uuid, line);
    } else if (line["type"] === "assistant") {
      this.#addAnswer(uuid, line);
    } else if (line["subtype"] === "compact_boundary") {
      const { preservedSegment } = fieldsIn(line["compactMetadata"]);
      this.#keptFrom = nameIn(fieldsIn(preservedSegment)["headUuid"]);
    }
  }

  #addUser(uuid: string, line: Fields): void {
    const ts = timeIn(line["timestamp"]);
    const { content } = fieldsIn(line["message"]);
    if (line["isCompactSummary"] === true) {
      const text = this.collected.text(blocksText(content));
      this.#place(uuid, {
        kind: "summary",
        id: uuid,
        ts,
        text,
        kept_from: this.#answerOf(this.#keptFrom),
      });
      return;
    }
    const isResult = (block: unknown): boolean => fieldsIn(block)["type"] === "tool_result";
    for (const block of listIn(content).filter(isResult)) {
      const { tool_use_id, content: result, is_error } = fieldsIn(block);
      const call_id = textIn(tool_use_id);
      const agent = nameIn(fieldsIn(line["toolUseResult"])["agentId"]);
      if (agent !== null) {
        this.callsOfAgents.set(agent, call_id);
      }
      const text = this.collected.text(blocksText(result));
      this.#place(uuid, {
        kind: "result",
        id: `${uuid}/${call_id}`,
        ts,
        call_id,
        text,
        failed: is_error === true,
      });
    }
    const text = blocksText(
      typeof content === "string" ? content : listIn(content).filter((block) => !isResult(block)),
    );
    if (text !== "" && line["isMeta"] !== true && !NOT_SAID.test(text)) {
      this.#place(uuid, { kind: "user", id: uuid, ts, text: this.collected.text(text) });
    }
  }

  /** Each block of an answer is a line, with the id of the answer. */
  #addAnswer(uuid: string, line: Fields): void {
    const { id, content, model } = fieldsIn(line["message"]);
    if (line["isApiErrorMessage"] === true || model === "<synthetic>") {
      return;
    }
    const answer = this.#answerIn(nameIn(id) ?? uuid, uuid, timeIn(line["timestamp"]), content);
    const at = this.#answers.get(answer.id);
    const known = at === undefined ? undefined : this.#placed[at];
    if (at === undefined || known?.entry.kind !== "answer") {
      this.#answers.set(answer.id, this.#placed.length);
      this.#place(uuid, answer);
      return;
    }
    this.#placed[at] = { uuid: known.uuid, entry: joined(known.entry, answer) };
    this.#answers.set(uuid, at);
  }

  #answerIn(id: string, uuid: string, ts: string | null, content: unknown): AnswerEntry {
    const blocks =
      typeof content === "string" ? [{ type: "text", text: content }] : listIn(content);
    const texts: string[] = [];
    const thinking: string[] = [];
    const calls: ForeignCall[] = [];
    for (const block of blocks.map(fieldsIn)) {
      if (block["type"] === "text") {
        texts.push(this.collected.text(textIn(block["text"])));
      } else if (block["type"] === "thinking" && textIn(block["thinking"]) !== "") {
        thinking.push(this.collected.text(textIn(block["thinking"])));
      } else if (block["type"] === "tool_use") {
        const args = argsIn(block["input"]);
        this.collected.count(JSON.stringify(args).length);
        calls.push({ id: textIn(block["id"]), name: textIn(block["name"]), args });
      }
    }
    this.#answers.set(uuid, this.#answers.get(id) ?? this.#placed.length);
    return { kind: "answer", id, ts, text: texts.join("\n"), thinking, calls };
  }

  /** Id of the entry that a line is in. */
  #answerOf(uuid: string | null): string | null {
    const at = uuid === null ? undefined : this.#answers.get(uuid);
    return at === undefined ? uuid : (this.#placed[at]?.entry.id ?? uuid);
  }

  #place(uuid: string, entry: Entry): void {
    this.#placed.push({ uuid, entry });
  }

  history(): History {
    const kept = this.#branch.ids();
    const isKept = ({ uuid, entry }: Placed): boolean =>
      kept.has(uuid) || entry.kind === "result" || this.#hasBlockIn(kept, entry);
    return this.collected.history({
      program: "claude-code",
      name: "Claude Code",
      id: this.#id,
      folder: this.#folder,
      created: this.#created,
      entries: this.#placed.filter(isKept).map(({ entry }) => entry),
    });
  }

  /** An answer belongs to the branch if one of its blocks does. */
  #hasBlockIn(kept: ReadonlySet<string>, { kind, id }: Entry): boolean {
    const at = kind === "answer" ? this.#answers.get(id) : undefined;
    return (
      at !== undefined &&
      (this.#blocks()
        .get(at)
        ?.some((uuid) => kept.has(uuid)) ??
        false)
    );
  }

  #byPosition: Map<number, string[]> | null = null;

  #blocks(): ReadonlyMap<number, readonly string[]> {
    if (this.#byPosition === null) {
      this.#byPosition = new Map();
      for (const [uuid, at] of this.#answers) {
        this.#byPosition.set(at, [...(this.#byPosition.get(at) ?? []), uuid]);
      }
    }
    return this.#byPosition;
  }
}

function joined(before: AnswerEntry, after: AnswerEntry): AnswerEntry {
  const texts = [before.text, after.text].filter((text) => text !== "");
  const known = new Set(before.calls.map(({ id }) => id));
  return {
    ...before,
    text: texts.join("\n"),
    thinking: [...before.thinking, ...after.thinking],
    calls: [...before.calls, ...after.calls.filter(({ id }) => !known.has(id))],
  };
}

import { basename, dirname } from "node:path";

import { readChildren, untaken } from "../children.ts";
import { Collected } from "../collected.ts";
import { argsIn, type Fields, fieldsIn, listIn, nameIn, textIn, timeIn } from "../fields.ts";
import type { AnswerEntry, Entry, ForeignCall, History, ResultEntry } from "../history.ts";
import { jsonLines, MAX_LINE_BYTES, openFile } from "../lines.ts";
import { folderOf, subagentFiles } from "./gemini-files.ts";

/**
 * Reads a conversation of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`, or one JSON object in
 * a `.json` of versions before. A later line of a message replaces those before it; `$set` changes the conversation.
 * Sub-agents are in `chats/<id>` beside it, those of sub-agents too.
 *
 * Error codes: `file_unreadable`, `export_invalid`, `body_too_large`.
 */
export async function readGemini(source: string): Promise<History> {
  const reader = await readReader(source);
  const folder = await folderOf(source, reader.projectHash);
  return withChildren(reader, { folder, chats: dirname(source), taken: new Set([source]) });
}

interface Tree {
  readonly folder: string | null;
  readonly chats: string;
  /** Files that are read: each belongs to one conversation, whatever ids are in them. */
  readonly taken: Set<string>;
}

async function withChildren(reader: Reader, tree: Tree): Promise<History> {
  const history = reader.history(tree.folder);
  const { id } = history;
  const files = untaken(await subagentFiles(tree.chats, id), tree.taken);
  const { children, problems } = await readChildren(files, async (file) => {
    const child = await withChildren(await readReader(file), tree);
    const call_id = reader.callsOfAgents.get(child.id) ?? null;
    return { ...child, id: `${id}/${child.id}`, call_id };
  });
  return { ...history, children, problems: [...history.problems, ...problems] };
}

async function readReader(source: string): Promise<Reader> {
  const reader = new Reader(source);
  if (source.endsWith(".json")) {
    await readWhole(source, reader);
  } else {
    for await (const line of jsonLines(source)) {
      if (line.problem === undefined) {
        reader.add(fieldsIn(line.value));
      } else {
        reader.collected.report(line.problem);
      }
    }
  }
  return reader;
}

async function readWhole(source: string, reader: Reader): Promise<void> {
  const lines: string[] = [];
  await using file = await openFile(source);
  const { size } = await file.stat();
  const bytes = size > MAX_LINE_BYTES ? null : await file.readFile();
  try {
    lines.push(new TextDecoder("utf-8", { fatal: true }).decode(bytes ?? new Uint8Array([0xff])));
    const whole = fieldsIn(JSON.parse(lines.join("")));
    reader.add(whole);
    reader.add({ $set: { messages: whole["messages"] } });
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) {
      throw error;
    }
    reader.collected.report({ source, line: null, message: "is not JSON, or was cut off" });
  }
}

/** Texts in the user's role that the program wrote. */
const NOT_SAID = /^\s*(?:<session_context>|System: Potential loop detected\.)/;

class Reader {
  readonly collected: Collected;
  /** Ids of calls, by the agents that they began. */
  readonly callsOfAgents = new Map<string, string>();
  /** By id, in the order of the conversation. */
  readonly #messages = new Map<string, readonly Entry[]>();
  /** Messages that a compression copied, by the ids of the copies. */
  readonly #copies = new Map<string, string | null>();
  #id: string | null = null;
  #created: string | null = null;
  projectHash: string | null = null;

  constructor(source: string) {
    this.collected = new Collected(source);
  }

  add(line: Fields): void {
    this.#id ??= nameIn(line["sessionId"]);
    this.#created ??= timeIn(line["startTime"]);
    this.projectHash ??= nameIn(line["projectHash"]);
    const rewound = nameIn(line["$rewindTo"]);
    if (rewound !== null) {
      this.#rewind(rewound);
    }
    this.#setMessages(listIn(fieldsIn(line["$set"])["messages"]).map(fieldsIn));
    if (nameIn(line["id"]) !== null) {
      this.#addMessage(line);
    }
  }

  /** Adds what is new: what is there already is repeated with less. */
  #setMessages(messages: readonly Fields[]): void {
    const at = messages.findIndex((message) => this.#isNew(message) && isAcknowledged(message));
    const summary = at > 0 ? messages[at - 1] : undefined;
    if (summary !== undefined && this.#isNew(summary)) {
      this.#compress(summary, messages.slice(at));
    }
    for (const message of messages) {
      if (this.#isNew(message)) {
        this.#addMessage(message);
      }
    }
  }

  #isNew(message: Fields): boolean {
    const id = textIn(message["id"]);
    return !this.#messages.has(id) && !this.#copies.has(id);
  }

  /** A compression: a summary, a line that acknowledges it, and copies of the last messages, with other ids. */
  #compress(summary: Fields, [acknowledged = {}, ...kept]: readonly Fields[]): void {
    const id = textIn(summary["id"]);
    const ts = timeIn(summary["timestamp"]);
    const text = this.#userEntries(id, ts, summary["content"]).map(textOf).join("\n");
    const first = kept.find((message) => this.#wordsOf(message) !== "");
    const original = first === undefined ? null : this.#originalOf(first);
    this.#messages.set(id, [{ kind: "summary", id, ts, text, kept_from: original }]);
    this.#copies.set(textIn(acknowledged["id"]), null);
    for (const copy of original === null ? [] : kept) {
      this.#copies.set(textIn(copy["id"]), this.#originalOf(copy));
    }
  }

  /** Id of the last message of the user with the words of a copy; null for none. */
  #originalOf(copy: Fields): string | null {
    const words = this.#wordsOf(copy);
    const isOriginal = (entry: Entry): boolean => entry.kind === "user" && entry.text === words;
    const found = [...this.#messages].findLast(([, entries]) => entries.some(isOriginal));
    return words === "" ? null : (found?.[0] ?? null);
  }

  #wordsOf({ type, id, content }: Fields): string {
    const entries = type === "user" ? this.#userEntries(textIn(id), null, content) : [];
    return entries
      .filter(({ kind }) => kind === "user")
      .map(textOf)
      .join("\n");
  }

  #rewind(named: string): void {
    const ids = [...this.#messages.keys()];
    const at = ids.indexOf(this.#copies.get(named) ?? named);
    for (const later of at < 0 ? [] : ids.slice(at)) {
      this.#messages.delete(later);
    }
  }

  #addMessage(message: Fields): void {
    const id = textIn(message["id"]);
    const ts = timeIn(message["timestamp"]);
    if (message["type"] === "user") {
      this.#messages.set(id, this.#userEntries(id, ts, message["content"]));
    } else if (message["type"] === "gemini") {
      this.#messages.set(id, this.#answerEntries(id, ts, message));
    }
  }

  #userEntries(id: string, ts: string | null, content: unknown): readonly Entry[] {
    const parts = typeof content === "string" ? [{ text: content }] : listIn(content).map(fieldsIn);
    const results = parts.flatMap(({ functionResponse }: Fields) =>
      functionResponse === undefined ? [] : [this.#resultIn(ts, fieldsIn(functionResponse))],
    );
    const text = parts
      .flatMap((part: Fields) =>
        typeof part["text"] === "string"
          ? [part["text"]]
          : part["functionResponse"] === undefined
            ? ["[data: not imported]"]
            : [],
      )
      .join("\n");
    return text === "" || NOT_SAID.test(text)
      ? results
      : [...results, { kind: "user", id, ts, text: this.collected.text(text) }];
  }

  #resultIn(ts: string | null, { id, response }: Fields): ResultEntry {
    const call_id = textIn(id);
    const { output, error } = fieldsIn(response);
    const said = error ?? output ?? response;
    const text = this.collected.text(
      typeof said === "string" ? said : JSON.stringify(said ?? null),
    );
    return { kind: "result", id: call_id, ts, call_id, text, failed: error !== undefined };
  }

  #answerEntries(id: string, ts: string | null, message: Fields): readonly Entry[] {
    const parts =
      typeof message["content"] === "string"
        ? [{ text: message["content"] }]
        : listIn(message["content"]).map(fieldsIn);
    const texts = parts
      .filter((part: Fields) => part["thought"] !== true)
      .map(({ text }: Fields) => textIn(text));
    const thoughts = [
      ...parts
        .filter((part: Fields) => part["thought"] === true)
        .map(({ text }: Fields) => textIn(text)),
      ...listIn(message["thoughts"]).map(thoughtText),
    ];
    const called = listIn(message["toolCalls"]).map(fieldsIn);
    const asked = parts.flatMap(({ functionCall }: Fields) =>
      functionCall === undefined || called.length > 0 ? [] : [fieldsIn(functionCall)],
    );
    const calls = [...called, ...asked].map((call): ForeignCall => {
      const agent = nameIn(call["agentId"]);
      if (agent !== null) {
        this.callsOfAgents.set(agent, textIn(call["id"]));
      }
      const args = argsIn(call["args"]);
      this.collected.count(JSON.stringify(args).length);
      return { id: textIn(call["id"]), name: textIn(call["name"]), args };
    });
    const answer: AnswerEntry = {
      kind: "answer",
      id,
      ts,
      text: this.collected.text(texts.filter((text) => text !== "").join("\n")),
      thinking: thoughts.filter((text) => text !== "").map((text) => this.collected.text(text)),
      calls,
    };
    return [answer, ...called.flatMap((call) => this.#resultsOf(call))];
  }

  #resultsOf(call: Fields): readonly Entry[] {
    const responses = listIn(call["result"]).map((part) =>
      fieldsIn(fieldsIn(part)["functionResponse"]),
    );
    const [first] = responses;
    if (first === undefined) {
      return [];
    }
    const result = this.#resultIn(timeIn(call["timestamp"]), { ...first, id: call["id"] });
    return [{ ...result, failed: result.failed === true || call["status"] === "error" }];
  }

  history(folder: string | null): History {
    const { source } = this.collected;
    const entries = [...this.#messages.values()].flat();
    if (!entries.some(({ kind }) => kind !== "result")) {
      throw this.collected.nothing("Gemini CLI", this.#id);
    }
    return {
      program: "gemini",
      id: this.#id ?? basename(source),
      source,
      folder,
      created: this.#created,
      entries,
      children: [],
      problems: this.collected.problems(),
    };
  }
}

/** The model's answer to a summary, which the program writes itself. */
function isAcknowledged({ type, content }: Fields): boolean {
  const [part] = listIn(content).map(fieldsIn);
  return type === "gemini" && part?.["text"] === "Got it. Thanks for the additional context!";
}

function textOf(entry: Entry): string {
  return entry.text;
}

function thoughtText(thought: unknown): string {
  const { subject, description } = fieldsIn(thought);
  return [textIn(subject), textIn(description)].filter((text) => text !== "").join(": ");
}

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { Collected, noHistory } from "../collected.ts";
import { argsIn, type Fields, fieldsIn, listIn, nameIn, textIn, timeIn } from "../fields.ts";
import type { AnswerEntry, Entry, ForeignCall, History, ResultEntry } from "../history.ts";
import { jsonLines, MAX_LINE_BYTES, openFile } from "../lines.ts";

/**
 * Reads a conversation of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`, or one JSON object in
 * a `.json` of versions before. A later line of a message replaces those before it; `$set` changes the conversation.
 *
 * Error codes: `file_unreadable`, `export_invalid`, `body_too_large`.
 */
export async function readGemini(source: string): Promise<History> {
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
  return reader.history(await folderOf(source, reader.projectHash));
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

/** The project's folder is in a file beside the chats; its hash, which is in the chat, proves it. */
async function folderOf(source: string, hash: string | null): Promise<string | null> {
  const file = join(dirname(dirname(source)), ".project_root");
  const folder = (await readFile(file, "utf8").catch(() => "")).slice(0, 8192).trim();
  const isProved = createHash("sha256").update(folder).digest("hex") === hash;
  return folder !== "" && isProved ? folder : null;
}

/** Texts in the user's role that the program wrote. */
const NOT_SAID = /^\s*<session_context>/;

class Reader {
  readonly collected: Collected;
  /** By id, in the order of the conversation. */
  readonly #messages = new Map<string, readonly Entry[]>();
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
    // what is there already is repeated with less
    for (const message of listIn(fieldsIn(line["$set"])["messages"]).map(fieldsIn)) {
      if (!this.#messages.has(textIn(message["id"]))) {
        this.#addMessage(message);
      }
    }
    if (nameIn(line["id"]) !== null) {
      this.#addMessage(line);
    }
  }

  #rewind(id: string): void {
    const ids = [...this.#messages.keys()];
    const at = ids.indexOf(id);
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
      throw noHistory("Gemini CLI");
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

function thoughtText(thought: unknown): string {
  const { subject, description } = fieldsIn(thought);
  return [textIn(subject), textIn(description)].filter((text) => text !== "").join(": ");
}

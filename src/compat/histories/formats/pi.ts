import { Branch } from "../branch.ts";
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
import type { AnswerEntry, Entry, ForeignCall, History } from "../history.ts";
import { jsonLines } from "../lines.ts";

/**
 * Reads a conversation of pi: `~/.pi/agent/sessions/<folder>/<time>_<id>.jsonl`, a tree of entries after a header.
 *
 * Error codes: `file_unreadable`, `export_invalid`, `body_too_large`.
 */
export async function readPi(source: string): Promise<History> {
  const reader = new Reader(source);
  for await (const line of jsonLines(source)) {
    if (line.problem === undefined) {
      reader.add(line.number, fieldsIn(line.value));
    } else {
      reader.collected.report(line.problem);
    }
  }
  return reader.history();
}

class Reader {
  readonly collected: Collected;
  readonly #branch = new Branch();
  readonly #entries: { readonly line: string; readonly entry: Entry }[] = [];
  /** Positions of the first entries from lines on, also from those that hold none. */
  readonly #positions = new Map<string, number>();
  #id: string | null = null;
  #folder: string | null = null;
  #created: string | null = null;
  #before: string | null = null;

  constructor(source: string) {
    this.collected = new Collected(source);
  }

  add(number: number, line: Fields): void {
    if (line["type"] === "session") {
      this.#id ??= nameIn(line["id"]);
      this.#folder ??= nameIn(line["cwd"]);
      this.#created ??= timeIn(line["timestamp"]);
      return;
    }
    // versions before the second had no ids
    const id = nameIn(line["id"]) ?? `line-${number}`;
    const parent = "parentId" in line ? nameIn(line["parentId"]) : this.#before;
    this.#before = id;
    this.#branch.add(id, parent, true);
    this.#positions.set(id, this.#entries.length);
    const entry = this.#entryIn(id, timeIn(line["timestamp"]), line);
    if (entry !== null) {
      this.#entries.push({ line: id, entry });
    }
  }

  #entryIn(id: string, ts: string | null, line: Fields): Entry | null {
    switch (line["type"]) {
      case "message":
        return this.#messageIn(id, ts, fieldsIn(line["message"]));
      case "compaction": {
        const text = this.collected.text(textIn(line["summary"]));
        const kept = this.#positions.get(textIn(line["firstKeptEntryId"])) ?? Infinity;
        const kept_from = this.#entries[kept]?.entry.id ?? null;
        return { kind: "summary", id, ts, text, kept_from };
      }
      case "branch_summary":
        return { kind: "user", id, ts, text: this.collected.text(textIn(line["summary"])) };
      default:
        return null;
    }
  }

  #messageIn(id: string, ts: string | null, message: Fields): Entry | null {
    const { role, content } = message;
    switch (role) {
      case "user":
        return { kind: "user", id, ts, text: this.collected.text(blocksText(content)) };
      case "assistant":
        return this.#answerIn(id, ts, listIn(content).map(fieldsIn));
      case "toolResult": {
        const call_id = textIn(message["toolCallId"]);
        const text = this.collected.text(blocksText(content));
        const failed = message["isError"] === true;
        return { kind: "result", id, ts, call_id, text, failed };
      }
      default:
        return null;
    }
  }

  #answerIn(id: string, ts: string | null, blocks: readonly Fields[]): AnswerEntry {
    const texts = (type: string, name: string): string[] =>
      blocks
        .filter((block) => block["type"] === type && textIn(block[name]) !== "")
        .map((block) => this.collected.text(textIn(block[name])));
    const calls = blocks
      .filter((block) => block["type"] === "toolCall")
      .map((block): ForeignCall => {
        const args = argsIn(block["arguments"]);
        this.collected.count(JSON.stringify(args).length);
        return { id: textIn(block["id"]), name: textIn(block["name"]), args };
      });
    const text = texts("text", "text").join("\n");
    return { kind: "answer", id, ts, text, thinking: texts("thinking", "thinking"), calls };
  }

  history(): History {
    const kept = this.#branch.ids();
    return this.collected.history({
      program: "pi",
      name: "pi",
      id: this.#id,
      folder: this.#folder,
      created: this.#created,
      entries: this.#entries.filter(({ line }) => kept.has(line)).map(({ entry }) => entry),
    });
  }
}

import { createHash, type Hash } from "node:crypto";

import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";

import { isSummary } from "../store/records/messages/summary.ts";
import { finishedResults, messagesOf } from "./messages/thread-state.ts";

/** What the result of a call says of files, as its artifact: fingerprints, each of one file. */
interface FileNotes {
  readonly read?: string;
  readonly wrote?: string;
}

/** Member of a summary with what results that it hides say of files. */
const FILES = "reprise_files";
/** Characters of the fingerprint of a path, and of the hash of what a file holds (128 bits). */
const PATH_LENGTH = 8;
const CONTENT_LENGTH = 22;

/**
 * The files of a folder as a thread's model knows them: for each the hash of what it held when a call last read or
 * wrote it. Kept with the results of the calls and with the summaries that hide these, so with the thread wherever it
 * goes, and never shown to a model.
 *
 * A reading counts once the model has been sent its result; what calls of the same answer wrote counts at once.
 */
export class KnownFiles {
  #messages: readonly BaseMessage[];
  #end: number;
  #folded = 0;
  readonly #known = new Map<string, string>();
  readonly #written = new Map<string, string>();

  /** From the thread's latest checkpoint. */
  constructor(tuple?: CheckpointTuple) {
    this.#messages = messagesOf(tuple);
    this.#end =
      1 +
      this.#messages.findLastIndex(
        (message) => AIMessage.isInstance(message) && !isSummary(message),
      );
    const results = [...this.#messages.slice(this.#end), ...finishedResults(tuple).values()];
    for (const { wrote } of results.map(notesOf)) {
      keep(this.#written, wrote);
    }
    keep(this.#known, markedFiles(this.#messages.findLast(isSummary)));
  }

  /** Notes that the model is sent these messages, the whole thread. */
  modelSees(messages: readonly BaseMessage[]): void {
    this.#messages = messages;
    this.#end = messages.length;
    this.#written.clear();
  }

  /** The hash by which the model knows the file; null for none. */
  hashOf(path: string): string | null {
    for (; this.#folded < this.#end; this.#folded += 1) {
      const { read, wrote } = notesOf(this.#messages[this.#folded]);
      keep(this.#known, read);
      keep(this.#known, wrote);
    }
    const key = pathKey(path);
    return (this.#written.get(key) ?? this.#known.get(key)) || null;
  }

  /** Notes what a call wrote. */
  wrote(note: string): void {
    keep(this.#written, note);
  }
}

/** Adds notes of files: the last one of a file counts. */
function keep(notes: Map<string, string>, note = ""): void {
  for (const each of note === "" ? [] : note.split(" ")) {
    notes.set(each.slice(0, PATH_LENGTH), each.slice(PATH_LENGTH));
  }
}

/** Messages that a summary replaces, and those that it keeps. */
interface Summarised {
  /** The summary before; null if there is none. */
  readonly summary: BaseMessage | null;
  /** Messages that no summary covers. */
  readonly kept: readonly BaseMessage[];
  /** Position of the first that is not summarised now. */
  readonly cut: number;
}

/** Returns a note of each file in the results that a summary hides, 31 bytes each. */
export function hiddenFiles({ summary, kept, cut }: Summarised): string {
  const files = new Map<string, string>();
  keep(files, markedFiles(summary ?? undefined));
  for (const { read, wrote } of kept.slice(0, cut).map(notesOf)) {
    keep(files, read);
    keep(files, wrote);
  }
  return [...files].flatMap(([path, hash]) => (hash === "" ? [] : [path + hash])).join(" ");
}

/** Members of a summary that keep these notes: a thread is read from what its last summary keeps. */
export function filesMark(files: string): Record<string, unknown> {
  return files === "" ? {} : { [FILES]: files };
}

/** Reads the notes that a summary keeps. An import may have any value. */
function markedFiles(summary: BaseMessage | undefined): string {
  const files: unknown = summary?.additional_kwargs[FILES];
  return typeof files === "string" ? files : "";
}

/** The fingerprint of a file; without a hash, of one that was removed. */
export function noteOf(path: string, hash: string | null): string {
  return `${pathKey(path)}${hash ?? ""}`;
}

/** The hash of what a file holds, of all its bytes. */
export function contentHash(bytes: Uint8Array | string): string {
  return digestOf(createHash("sha256").update(bytes));
}

export function digestOf(hash: Hash): string {
  return hash.digest("base64url").slice(0, CONTENT_LENGTH);
}

function pathKey(path: string): string {
  return createHash("sha256").update(path).digest("base64url").slice(0, PATH_LENGTH);
}

/** Of a message from anywhere: other graphs and imports have artifacts too. */
function notesOf(message: BaseMessage | undefined): FileNotes {
  const artifact: unknown = ToolMessage.isInstance(message) ? message.artifact : undefined;
  if (typeof artifact !== "object" || artifact === null) {
    return {};
  }
  const read: unknown = Reflect.get(artifact, "read");
  const wrote: unknown = Reflect.get(artifact, "wrote");
  return {
    ...(typeof read === "string" ? { read } : {}),
    ...(typeof wrote === "string" ? { wrote } : {}),
  };
}

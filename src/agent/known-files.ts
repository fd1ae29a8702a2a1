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

/** Characters of the fingerprint of a path, and of the hash of what a file holds (128 bits). */
const PATH_LENGTH = 8;
const CONTENT_LENGTH = 22;

/**
 * The files of a folder as a thread's model knows them: for each the hash of what it held when a call last read or
 * wrote it. Kept with the results of the calls, so with the thread wherever it goes, and never shown to a model.
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
      this.#keep(this.#written, wrote);
    }
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
      this.#keep(this.#known, read);
      this.#keep(this.#known, wrote);
    }
    const key = pathKey(path);
    return (this.#written.get(key) ?? this.#known.get(key)) || null;
  }

  /** Notes what a call wrote. */
  wrote(note: string): void {
    this.#keep(this.#written, note);
  }

  #keep(notes: Map<string, string>, note = ""): void {
    for (const each of note === "" ? [] : note.split(" ")) {
      notes.set(each.slice(0, PATH_LENGTH), each.slice(PATH_LENGTH));
    }
  }
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

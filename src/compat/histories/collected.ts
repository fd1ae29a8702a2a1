import { basename } from "node:path";

import { RepriseError } from "../../core/errors.ts";
import { MAX_CONTENT_BYTES } from "../../core/limits.ts";
import { cutToBytes } from "../../core/text/cut-to-bytes.ts";
import type { Entry, History, Problem, Program } from "./history.ts";

/** Bytes of the texts of one history: it is stored in one transaction. */
const MAX_HISTORY_BYTES = 256 * 1024 * 1024;

/** Problems that are kept of one file; those after them are counted. */
const MAX_PROBLEMS = 100;

/** Collects entries and problems of a file within bounds. */
export class Collected {
  readonly source: string;
  readonly #problems: Problem[] = [];
  #more = 0;
  #bytes = 0;

  constructor(source: string) {
    this.source = source;
  }

  /** Returns a text that fits into a message. Error codes: `body_too_large`. */
  text(text: string): string {
    const kept =
      text.length > MAX_CONTENT_BYTES / 4 && Buffer.byteLength(text) > MAX_CONTENT_BYTES
        ? `${cutToBytes(text, MAX_CONTENT_BYTES - CUT.length)}${CUT}`
        : text;
    this.count(kept.length);
    return kept;
  }

  /** Counts what is kept besides texts. Error codes: `body_too_large`. */
  count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_HISTORY_BYTES) {
      throw new RepriseError(
        "body_too_large",
        `The history has more than ${MAX_HISTORY_BYTES / 1024 / 1024} MiB of messages, so it was not imported.`,
      );
    }
  }

  /** Keeps a problem of a line. */
  report(problem: Problem): void {
    if (this.#problems.length < MAX_PROBLEMS) {
      this.#problems.push(problem);
    } else {
      this.#more += 1;
    }
  }

  /** Makes the history of a file of lines, each entry once. Error codes: `export_invalid` without entries. */
  history(found: {
    readonly program: Program;
    /** As a person knows the program. */
    readonly name: string;
    readonly id: string | null;
    readonly folder: string | null;
    readonly created: string | null;
    readonly entries: readonly Entry[];
  }): History {
    const { name, id, entries, ...facts } = found;
    if (entries.length === 0) {
      throw this.nothing(name, id);
    }
    const { source } = this;
    return {
      ...facts,
      id: id ?? basename(source, ".jsonl"),
      source,
      entries: onceEach(entries),
      children: [],
      problems: this.problems(),
    };
  }

  /** The error of a file without an entry, which may be damaged, or of another program. */
  nothing(program: string, id: string | null): RepriseError {
    const isWhole = id !== null && this.problems().length === 0;
    return isWhole ? emptyHistory(program) : noHistory(program);
  }

  problems(): readonly Problem[] {
    const { source } = this;
    return this.#more === 0
      ? this.#problems
      : [...this.#problems, { source, line: null, message: `has ${this.#more} more such lines` }];
  }
}

const CUT = "\n[cut here when it was imported]";

/** Error of a file that holds nothing to import. */
export function noHistory(program: string): RepriseError {
  return new RepriseError(
    "export_invalid",
    `The file holds no conversation of ${program} that can be read. Check the file and --from.`,
  );
}

/** Errors of conversations that a person began and left. */
const EMPTY = new WeakSet<RepriseError>();

function emptyHistory(program: string): RepriseError {
  const error = new RepriseError(
    "export_invalid",
    `This conversation of ${program} has no message that could be imported. Name another file.`,
  );
  EMPTY.add(error);
  return error;
}

/** True for the error of a file that is whole and has no message: an import of many files passes over it. */
export function isEmptyHistory(error: unknown): boolean {
  return error instanceof RepriseError && EMPTY.has(error);
}

/** Entries, each id once. */
function onceEach(entries: readonly Entry[]): readonly Entry[] {
  const seen = new Set<string>();
  return entries.filter(({ id, kind }) => {
    const key = `${kind} ${id}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

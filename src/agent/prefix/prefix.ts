import type { StructuredToolInterface } from "@langchain/core/tools";

import { estimateTokens } from "../../core/text/text.ts";
import type { View } from "../compaction/view.ts";
import {
  changesSince,
  factsBehind,
  type Facts,
  hashesOf,
  type KnownFacts,
  knownFactsIn,
  type PossibleFacts,
  promptOf,
} from "./facts.ts";
import { definitionOf, type ToolDefinition } from "../messages/tool-definition.ts";
import { type Note, noteOf } from "./note.ts";

/** Channel of a thread's checkpoints that keeps its prefix. */
export const PREFIX_CHANNEL = "reprise_prefix";

/**
 * System prompt and tools that a thread's model is sent before its messages, fixed at the first call and stored with the answer:
 * providers keep reasoning, and read from their cache, only after an unchanged prefix. What changes later is a
 * note in the next message of the user. A summary begins a new prefix.
 *
 * Rules: "Preserved thinking" and "Prompt caching" of Anthropic's documentation, "Preserved reasoning" of
 * OpenAI's.
 */
export interface Prefix {
  readonly system: string;
  /** Definitions of the tools, as JSON in OpenAI's form. */
  readonly tools: readonly ToolDefinition[];
  readonly known: KnownFacts;
  /** True if the session had a folder for its tools. */
  readonly files: boolean;
  /** Id of the summary with which it begins; null without one. */
  readonly summary: string | null;
  /**
   * Id of the last message that was there before. Reasoning and notes up to there belong to another prefix, and
   * are not sent.
   */
  readonly after: string | null;
  /** That of the session in whose database it was made. Another one came in a file, which anybody may have written. */
  readonly mark: string | null;
  /** True once the provider has refused reasoning in this thread: it is then asked to leave out what does not fit. */
  readonly drops: boolean;
}

/** Facts about an exchange that decide about its prefix. */
export interface PrefixInput {
  /** Returns what applies now, for a model that has these tools. */
  readonly facts: (declared: readonly string[]) => Facts;
  /** Returns all that may have been so before, in other modes. */
  readonly possible: (declared: readonly string[]) => PossibleFacts;
  /** Returns the tools of a new prefix. */
  readonly tools: () => readonly StructuredToolInterface[];
  /** True if the session has a folder for its tools. */
  readonly hasFiles: boolean;
  /** The session's mark; null if it has none. */
  readonly mark: string | null;
}

/** The prefix of one thread, for an exchange. */
export class ThreadPrefix {
  readonly #input: PrefixInput;

  constructor(input: PrefixInput) {
    this.#input = input;
  }

  /**
   * Returns the stored prefix, or a new one with these tools if none is stored for this view and folder that can be
   * trusted.
   */
  async current(
    stored: unknown,
    view: View,
    toolsOf: () => Promise<readonly StructuredToolInterface[]>,
  ): Promise<Prefix> {
    const trusted = this.#trusted(stored, view);
    if (trusted !== null) {
      return trusted;
    }
    const tools = await toolsOf();
    const facts = this.#input.facts(tools.map(({ name }) => name));
    return {
      system: promptOf(facts),
      tools: tools.map(definitionOf),
      known: hashesOf(facts),
      files: this.#input.hasFiles,
      summary: view.summary?.id ?? null,
      after: view.kept.at(-1)?.id ?? null,
      mark: this.#input.mark,
      drops: false,
    };
  }

  /** Returns the note for the next message of the user: what has changed since the model was last given it. */
  note(stored: unknown, view: View): Note | null {
    const prefix = this.#trusted(stored, view);
    if (prefix === null) {
      return null;
    }
    const facts = this.#input.facts(namesOf(prefix.tools));
    const text = changesSince(lastKnown(prefix, view), facts);
    return text === null ? null : { text, known: hashesOf(facts) };
  }

  /**
   * Returns the stored prefix if it may be sent: one that was made in this database, or one that this program would make
   * itself. A file could hold any instructions in it, and no reader of the session would see them.
   */
  #trusted(stored: unknown, view: View): Prefix | null {
    if (!this.#isCurrent(stored, view)) {
      return null;
    }
    const { mark } = this.#input;
    if (mark !== null && stored.mark === mark) {
      return stored;
    }
    return this.#wouldMake(stored, view) ? { ...stored, mark } : null;
  }

  /** Asks whether system prompt, tools and notes are, to the last character, what this program gives a model. */
  #wouldMake(stored: Prefix, view: View): boolean {
    const possible = this.#input.possible(namesOf(stored.tools));
    let known = knownFactsIn(stored.known);
    const facts = factsBehind(known, possible);
    const own = this.#input.tools().map(definitionOf);
    if (
      facts === null ||
      promptOf(facts) !== stored.system ||
      JSON.stringify(own) !== JSON.stringify(stored.tools)
    ) {
      return false;
    }
    for (const note of notesAfter(stored, view)) {
      const then = factsBehind(note.known, possible);
      if (then === null || changesSince(known, then) !== note.text) {
        return false;
      }
      known = note.known;
    }
    return true;
  }

  /** False once a summary was made, or the session has got a folder. */
  #isCurrent(stored: unknown, view: View): stored is Prefix {
    return (
      isPrefix(stored) &&
      stored.summary === (view.summary?.id ?? null) &&
      stored.files === this.#input.hasFiles
    );
  }
}

/** Estimates the tokens of a prefix. */
export function prefixTokens({ system, tools }: Prefix): number {
  return estimateTokens(system) + estimateTokens(JSON.stringify(tools));
}

function namesOf(tools: Prefix["tools"]): string[] {
  return tools.map((tool) => tool.function.name);
}

function lastKnown(prefix: Prefix, view: View): KnownFacts {
  return notesAfter(prefix, view).at(-1)?.known ?? knownFactsIn(prefix.known);
}

/** Returns the notes that are sent after a prefix: see `afterPrefix`. */
function notesAfter({ after }: Prefix, { request, kept }: View): Note[] {
  const messages = request === null ? kept : [request, ...kept];
  const last = after === null ? -1 : messages.findIndex(({ id }) => id === after);
  return messages.slice(last + 1).flatMap((message) => noteOf(message) ?? []);
}

/** Returns the prefix that a thread has stored; null without one. */
export function storedPrefix(value: unknown): Prefix | null {
  return isPrefix(value) ? value : null;
}

/** Checks a stored value, which an import may have made. */
function isPrefix(value: unknown): value is Prefix {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const { system, tools, after } = value as Partial<Record<keyof Prefix, unknown>>;
  return (
    typeof system === "string" &&
    Array.isArray(tools) &&
    tools.every(isDefinition) &&
    (after === null || typeof after === "string")
  );
}

function isDefinition(value: unknown): value is ToolDefinition {
  const called: unknown =
    typeof value === "object" && value !== null ? Reflect.get(value, "function") : null;
  return (
    typeof called === "object" && called !== null && typeof Reflect.get(called, "name") === "string"
  );
}

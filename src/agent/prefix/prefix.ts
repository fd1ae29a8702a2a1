import type { BaseMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";

import { estimateTokens } from "../../core/text/text.ts";
import type { View } from "../compaction/view.ts";
import {
  changesSince,
  type Facts,
  hashesOf,
  type KnownFacts,
  knownFactsIn,
  promptOf,
} from "./facts.ts";
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
  /** True once the provider has refused reasoning in this thread: it is then asked to leave out what does not fit. */
  readonly drops: boolean;
}

export interface ToolDefinition {
  readonly type: "function";
  readonly function: { readonly name: string; readonly parameters?: unknown };
}

/** Facts about an exchange that decide about its prefix. */
export interface PrefixInput {
  /** Returns what applies now, for a model that has these tools. */
  readonly facts: (declared: readonly string[]) => Facts;
  /** True if the session has a folder for its tools. */
  readonly hasFiles: boolean;
}

/** The prefix of one thread, for an exchange. */
export class ThreadPrefix {
  readonly #input: PrefixInput;

  constructor(input: PrefixInput) {
    this.#input = input;
  }

  /** Returns the stored prefix, or a new one if none is stored for this view and folder. */
  current(stored: unknown, view: View, tools: readonly StructuredToolInterface[]): Prefix {
    if (this.#isCurrent(stored, view)) {
      return stored;
    }
    const facts = this.#input.facts(tools.map(({ name }) => name));
    return {
      system: promptOf(facts),
      tools: tools.map(definitionOf),
      known: hashesOf(facts),
      files: this.#input.hasFiles,
      summary: view.summary?.id ?? null,
      after: view.kept.at(-1)?.id ?? null,
      drops: false,
    };
  }

  /** Returns the note for the next message of the user: what has changed since the model was last given it. */
  note(stored: unknown, view: View): Note | null {
    if (!this.#isCurrent(stored, view)) {
      return null;
    }
    const facts = this.#input.facts(stored.tools.map((tool) => tool.function.name));
    const text = changesSince(lastKnown(stored, view.kept), facts);
    return text === null ? null : { text, known: hashesOf(facts) };
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

/** Returns the definition without what each tool would repeat: its dialect of schemas, and that it takes no other fields. */
function definitionOf(tool: StructuredToolInterface): ToolDefinition {
  const { function: called } = convertToOpenAITool(tool);
  const { $schema: _, additionalProperties: __, ...parameters } = called.parameters as Schema;
  return { type: "function", function: { ...called, parameters } };
}

type Schema = Readonly<Record<string, unknown>>;

function lastKnown(prefix: Prefix, messages: readonly BaseMessage[]): KnownFacts {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message === undefined || message.id === prefix.after) {
      break;
    }
    const note = noteOf(message);
    if (note !== null) {
      return note.known;
    }
  }
  return knownFactsIn(prefix.known);
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

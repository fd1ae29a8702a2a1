import type { LiveEvent, ReasoningInfo } from "../../src/entries/client.ts";

/** What a model thinks of an answer before it writes it. */
export interface Thought {
  /** Empty if the provider does not show it. */
  readonly text: string;
  readonly begunAt: number;
  /** How long it took, in milliseconds; null while it does, or if nobody measured it. */
  readonly ms: number | null;
  /** Where it comes from: this page heard it, or read it later. */
  readonly source: "heard" | "read";
  /** True if the provider does not show it, as far as that is known. */
  readonly isHidden: boolean;
}

/** Thoughts that are kept, the latest ones: a tab may be open for weeks. */
const KEPT = 500;

/** Adds what was read of answers that this page has not seen being written. */
export function addRead(thoughts: Map<string, Thought>, found: readonly ReasoningInfo[]): void {
  for (const { message_id, text, bytes, is_hidden } of found) {
    if (!thoughts.has(message_id)) {
      const isWhole = new TextEncoder().encode(text).length === bytes;
      const source = "read";
      const shown = isWhole ? text : `${text}…`;
      const thought = { text: shown, begunAt: 0, ms: null, source, isHidden: is_hidden } as const;
      keep(thoughts, message_id, thought);
    }
  }
}

/** Adds what an event of the live feed says of thoughts. */
export function hearThought(thoughts: Map<string, Thought>, event: LiveEvent): void {
  switch (event.event) {
    case "snapshot":
      if (event.data.reasoning !== null) {
        const { message_id, text } = event.data.reasoning;
        keep(thoughts, message_id, { ...begun(thoughts, message_id), text });
      }
      break;
    case "reasoning": {
      const { message_id, text } = event.data;
      const before = begun(thoughts, message_id);
      keep(thoughts, message_id, { ...before, text: before.text + text, ms: null });
      break;
    }
    case "text":
    case "message":
    case "tool_call":
      end(thoughts, event.data.message_id);
      break;
    case "reset":
      thoughts.delete(event.data.message_id);
      break;
    default:
      break;
  }
}

function begun(thoughts: ReadonlyMap<string, Thought>, id: string): Thought {
  return (
    thoughts.get(id) ?? {
      text: "",
      begunAt: Date.now(),
      ms: null,
      source: "heard",
      isHidden: false,
    }
  );
}

function end(thoughts: Map<string, Thought>, id: string): void {
  const thought = thoughts.get(id);
  if (thought?.source === "heard" && thought.ms === null) {
    thoughts.set(id, { ...thought, ms: Date.now() - thought.begunAt });
  }
}

function keep(thoughts: Map<string, Thought>, id: string, thought: Thought): void {
  thoughts.set(id, thought);
  if (thoughts.size > KEPT) {
    thoughts.delete([...thoughts.keys()][0] ?? "");
  }
}

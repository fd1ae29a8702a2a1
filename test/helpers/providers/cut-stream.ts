import { type PartStep, type Step, stepOf } from "./steps.ts";

/** An answer in the form of an API. */
interface Written {
  begin(): string;
  write(step: PartStep): string;
  end(): string;
}

/** The part of a stream that arrives before its connection is cut. */
export function partBeforeCut(answer: Written, steps: readonly Step[]): string {
  const cut = stepOf(steps, "cut_at");
  if (cut === undefined) {
    return "";
  }
  const parts = steps.filter((step): step is PartStep => PARTS.has(step.kind));
  const begun = answer.begin() + parts.map((step) => answer.write(step)).join("");
  // an answer that does not end is not one that the provider remembers
  const events = eventsOf(begun);
  const all = events.length > cut.event ? events : eventsOf(begun + answer.end());
  return all.slice(0, cut.event).join("") + (all[cut.event] ?? "").slice(0, cut.characters);
}

/** The events of a stream; for Ollama its lines. */
export function eventsOf(stream: string): string[] {
  const end = /^(?:event|data|:)/.test(stream) ? "\n\n" : "\n";
  return stream.split(end).flatMap((one) => (one === "" ? [] : [one + end]));
}

const PARTS: ReadonlySet<string> = new Set(["text", "reasoning", "call", "cut_call", "ping"]);

import type { RunDetail, RunPhase } from "../../../src/entries/client.ts";
import { shortCount } from "../../list/state-text.ts";
import { costText } from "../exchange-text.ts";

type Shown = RunPhase["shown"];

/** Each state of a phase in a word or two. */
export const PHASE_TEXTS: Readonly<Record<Shown, string>> = {
  waiting: "waiting",
  ready: "ready",
  approval: "needs your yes",
  running: "running",
  asking: "asks you",
  interrupted: "interrupted",
  done: "done",
  failed: "failed",
  refused: "refused",
  blocked: "blocked",
};

type Tone = `tone-${"good" | "busy" | "ask" | "bad" | "still"}`;

/** Colours of states: the class of each. */
export const PHASE_TONES: Readonly<Record<Shown, Tone>> = {
  waiting: "tone-still",
  ready: "tone-still",
  blocked: "tone-still",
  approval: "tone-ask",
  asking: "tone-ask",
  interrupted: "tone-ask",
  running: "tone-busy",
  done: "tone-good",
  failed: "tone-bad",
  refused: "tone-bad",
};

/** Says in a sentence what happens with the run now. */
export function runSentence({ exchange, phases, asking }: RunDetail): string {
  switch (exchange?.state) {
    case undefined:
    case "queued":
      return "The run waits for a service that runs it.";
    case "running":
      return countText(phases, "running", "runs", "run") ?? "The next phases begin.";
    case "waiting":
      return asking.length === 0
        ? "The run waits for an answer."
        : `The run waits for you: ${namesOf(asking)}.`;
    case "done":
      return "All phases are done.";
    case "stopped":
      return "The run was stopped. What had begun continues with it.";
    case "interrupted":
      return "The process of the run ended. A service continues it, or continue it here.";
    case "failed":
      return exchange.error_code === "phase_failed"
        ? failedText(phases)
        : `The run failed: ${exchange.error_sentence ?? "no reason is known."}`;
  }
}

function failedText(phases: readonly RunPhase[]): string {
  const failed = phases.filter(hasFailed).map(({ key, state }) => `${key} ${state}`);
  const blocked = phases.filter(({ shown }) => shown === "blocked").map(({ key }) => key);
  const rest = blocked.length === 0 ? "" : ` Not begun, because of that: ${namesOf(blocked)}.`;
  return `The run ended: ${namesOf(failed)}.${rest}`;
}

/** Names that a sentence has at most. */
const MAX_NAMES = 6;

function namesOf(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function countText(
  phases: readonly RunPhase[],
  shown: Shown,
  one: string,
  several: string,
): string | null {
  const keys = phases.filter((phase) => phase.shown === shown).map(({ key }) => key);
  return keys.length === 0 ? null : `${namesOf(keys)} ${keys.length === 1 ? one : several} now.`;
}

/** Attempt and use of a phase, as far as they say something. */
export function usedTexts({ attempt, usage, cost_micros }: RunPhase): readonly string[] {
  const tokens = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  const cost = costText({ usage, cost_micros });
  return [
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(tokens > 0 ? [`${shortCount(tokens)} tok`] : []),
    ...(cost === null ? [] : [cost]),
  ];
}

/** True for a phase that may get another attempt. */
export function hasFailed({ state }: RunPhase): boolean {
  return state === "failed" || state === "refused";
}

/** A command on one line, with quotes around words that need them. */
export function commandText(argv: readonly string[]): string {
  return argv
    .map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(" ");
}

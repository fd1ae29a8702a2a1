import { type DefaultAnswer, MAX_CHOICE } from "../core/questions.ts";
import { wrongUsage } from "./wrong-usage.ts";

export const ANSWER_AFTER_HELP =
  "answer questions that nobody has answered for so long and that take this answer: 1h=deny";

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads `--answer-after <time>=<answer>`. Error codes: `invalid_usage`. */
export function answerAfter(text: string): DefaultAnswer {
  const [, count = "", unit = "", answer = ""] =
    /^([1-9]\d{0,4})(s|min|h|d)=(.+)$/u.exec(text) ?? [];
  const milliseconds = UNITS[unit];
  if (milliseconds === undefined || answer.length > MAX_CHOICE) {
    throw wrongUsage("--answer-after takes a time and an answer, such as 1h=deny or 30min=no.");
  }
  return { answer, after_ms: Number(count) * milliseconds };
}

import { type DefaultAnswer, isChoiceId } from "../../core/questions.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

export const ANSWER_AFTER_HELP =
  "answer questions that nobody has answered for so long and that offer this choice, by its id: 1h=deny";

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads `--answer-after <time>=<choice>`. Error codes: `invalid_usage`. */
export function answerAfter(text: string): DefaultAnswer {
  const [, count = "", unit = "", choice = ""] =
    /^([1-9]\d{0,4})(s|min|h|d)=(.+)$/u.exec(text) ?? [];
  const milliseconds = UNITS[unit];
  if (milliseconds === undefined || !isChoiceId(choice)) {
    throw wrongUsage(
      "--answer-after takes a time and the id of a choice, such as 1h=deny, 30min=stop, or 1d=2 for the second of those that a model offers.",
    );
  }
  return { choice, after_ms: Number(count) * milliseconds };
}

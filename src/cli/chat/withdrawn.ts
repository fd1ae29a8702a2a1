import { plural } from "../../core/text/text.ts";
import type { OpenQuestion } from "../../store/records/questions/read.ts";
import { type CliContext, noticeLine } from "../process/context.ts";

/** Says how many of the questions that were open before a command are not open after it. */
export function noticeWithdrawn(
  cli: CliContext,
  before: readonly OpenQuestion[],
  after: readonly OpenQuestion[],
): void {
  const open = new Set(after.map(({ id }) => id));
  const count = before.filter(({ id }) => !open.has(id)).length;
  if (count > 0) {
    noticeLine(cli, `${plural(count, "open question")} withdrawn.`);
  }
}

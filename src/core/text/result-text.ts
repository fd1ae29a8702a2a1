/** Before the reason in the result of a call that failed: models know it from other agents. */
const FAILURE = "Error: ";
/** Characters of a reason that are shown at most. */
const MAX_REASON = 1000;

/** The result of a call that failed, for the model. */
export function failureText(reason: string): string {
  return `${FAILURE}${reason}`;
}

/** The first line of a result, for a person: of one that failed, the reason. */
export function reasonOf(content: string): string {
  const [line = ""] = content.slice(0, MAX_REASON).split("\n", 1);
  return line.startsWith(FAILURE) ? line.slice(FAILURE.length) : line;
}

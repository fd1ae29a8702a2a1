/** Before each line of a command's result that is for a person, too. */
const FOR_PERSON = "Sandbox: ";

/** A line of a command's result for the model and for a person; `sentence` is one line, and clean. */
export function commandNote(sentence: string): string {
  return FOR_PERSON + sentence;
}

/**
 * Returns what a person has to know of the result of a command: the lines before the first empty one, which ends what
 * Reprise says. The output of the command comes after it, so it cannot pass for one of them.
 */
export function commandNotes(content: string): readonly string[] {
  const end = content.indexOf("\n\n");
  return (end < 0 ? content : content.slice(0, end))
    .split("\n")
    .slice(1)
    .filter((line) => line.startsWith(FOR_PERSON))
    .map((line) => line.slice(FOR_PERSON.length));
}

const NO_OUTPUT = "(no output)";

/** The result of a command for the model: what Reprise says of it, then what it printed. */
export function commandResult(said: string, output: string): string {
  return `${said}\n\n${output === "" ? NO_OUTPUT : output}`;
}

/** Returns what the command printed, by its result. */
export function commandOutput(content: string): string {
  const end = content.indexOf("\n\n");
  const output = end < 0 ? "" : content.slice(end + 2);
  return output === NO_OUTPUT ? "" : output;
}

/**
 * Fills the arguments of a line into the text of a command: `$ARGUMENTS` is all of them, `$1` to `$9` a word each, or
 * what is in quotes. A text that names none gets them at its end. What is filled in is not read again.
 */
export function expandCommand(text: string, argument: string): string {
  const words = Array.from(
    argument.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
  let isNamed = false;
  const filled = text.replace(/\$(?:ARGUMENTS\b|([1-9])(?!\d))/g, (_, n: string | undefined) => {
    isNamed = true;
    return n === undefined ? argument : (words[Number(n) - 1] ?? "");
  });
  return isNamed || argument === "" ? filled : `${filled}\n\n${argument}`;
}

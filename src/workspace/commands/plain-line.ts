/**
 * A shell line whose words are known without a shell: commands of plain words, joined by `&&`, `||`, `;` or `|`.
 * Returns the words of each command; null for every other line.
 *
 * line = command { ("&&" | "||" | ";" | "|") command }, a command is words with spaces between them, and a word
 * is made of these pieces:
 *   plain    letters, digits and `_ . / : = @ % + , -`; `~` and `^` only after a letter, a digit or `_`
 *   '…'      any printable character
 *   "…"      the same without `$`, backquote, backslash and `!`
 * The first word of a command is not empty, holds no `=` and does not belong to the shell's grammar, as `if` does.
 */
export function plainParts(line: string): readonly (readonly string[])[] | null {
  if (line.length > MAX_PLAIN || UNPRINTABLE.test(line)) {
    return null;
  }
  const parts: string[][] = [];
  let words: string[] = [];
  let at = 0;
  const next = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const [found = null] = pattern.exec(line) ?? [];
    at += found?.length ?? 0;
    return found;
  };
  for (;;) {
    next(SPACES);
    const word = next(WORD);
    if (word !== null) {
      words.push(withoutQuotes(word));
      // two words need a space or an operator between them
      if (at < line.length && !/[ ;&|]/.test(line[at] ?? "")) {
        return null;
      }
      continue;
    }
    const isEnd = at === line.length;
    if (!isCommand(words) || (!isEnd && next(OPERATOR) === null)) {
      return null;
    }
    parts.push(words);
    if (isEnd) {
      return parts;
    }
    words = [];
  }
}

/** A line that `plainParts` reads as these words; null for words that no such line has. */
export function plainLine(words: readonly string[]): string | null {
  const line = words.map(plainWord).join(" ");
  const [read = [], ...others] = plainParts(line) ?? [];
  return words.length > 0 && others.length === 0 && JSON.stringify(read) === JSON.stringify(words)
    ? line
    : null;
}

const MAX_PLAIN = 20_000;

/** Also bidirectional marks and other characters without a shape: nobody sees that they are there. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const SPACES = / */y;
const OPERATOR = /&&|\|\||;|\|/y;
const WORD = /(?:[\w./:=@%+,-]|(?<=\w)[~^]|'[^']*'|"[^"$`\\!]*")+/y;
const PIECE = /'([^']*)'|"([^"]*)"|([^'"]+)/g;

/** Words that begin or end something in the grammar of a shell; some are of bash only. */
const RESERVED: ReadonlySet<string> = new Set(
  "if then else elif fi case esac for select while until do done in function time coproc".split(
    " ",
  ),
);

function isCommand([first = ""]: readonly string[]): boolean {
  return first !== "" && !first.includes("=") && !RESERVED.has(first);
}

function withoutQuotes(word: string): string {
  return word.replace(
    PIECE,
    (_, single?: string, double?: string, plain?: string) => single ?? double ?? plain ?? "",
  );
}

function plainWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** A text made of another one; `from` and `to` are where each of its UTF-16 units comes from there. */
export interface TracedText {
  readonly text: string;
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** Escapes within escapes that are decoded. */
const MAX_DEPTH = 4;

/** Percent-encoding, escapes of JSON and of programming languages, HTML entities, and bytes as numbers. */
const ESCAPE =
  /(?:%|\\+x|\b0x)(?<byte>[\da-f]{2})|\\+u(?:(?<unit>[\da-f]{4})|\{(?<point>[\da-f]{1,6})\})|&#(?:x(?<hex>[\da-f]{1,6})|(?<decimal>\d{1,7}));?|&(?<name>amp|lt|gt|quot|apos);|\\+(?<blank>[nrtbf])|(?<![\d.])(?<number>\d{2,3})(?=\s*[,\]])/gi;

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** Returns the text itself, then with its escapes decoded, then with those within them. Bytes are one character each. */
export function readings(text: string): readonly TracedText[] {
  const from = Array.from({ length: text.length }, (_, at) => at);
  const all: TracedText[] = [{ text, from, to: from.map((at) => at + 1) }];
  for (let last = all[0]; last !== undefined && all.length <= MAX_DEPTH; last = all.at(-1)) {
    const made = decoded(last);
    if (made === null) {
      break;
    }
    all.push(made);
  }
  return all;
}

/** Null if there is nothing to decode. */
function decoded(whole: TracedText): TracedText | null {
  const made = new Made(whole);
  let end = 0;
  for (const match of whole.text.matchAll(ESCAPE)) {
    made.keep(end, match.index);
    end = match.index + match[0].length;
    made.add(meaningOf(match.groups ?? {}), match.index, end);
  }
  made.keep(end, whole.text.length);
  return end === 0 ? null : made;
}

/** Its letters and digits alone, as `plainLetters` has them. */
export function lettersAlone(whole: TracedText): TracedText {
  const made = new Made(whole);
  let at = 0;
  for (const character of whole.text) {
    made.add(plainLetters(character), at, at + character.length);
    at += character.length;
  }
  return made;
}

/** The letters and digits of a text, in capitals and in the simplest of their forms. Each character gives its own. */
export function plainLetters(text: string): string {
  // in lower case a sigma depends on what follows it, and a composed letter on what comes before it
  return text.normalize("NFKD").toUpperCase().replace(IGNORED, "");
}

const IGNORED = /[^\p{L}\p{N}]|\p{Default_Ignorable_Code_Point}/gu;

function meaningOf(groups: Readonly<Record<string, string | undefined>>): string {
  const { byte, unit, point, hex, decimal, name, blank, number } = groups;
  if (name !== undefined) {
    return NAMED[name.toLowerCase()] ?? "";
  }
  if (blank !== undefined) {
    return " ";
  }
  const digits = byte ?? unit ?? point ?? hex;
  const code = digits === undefined ? Number(decimal ?? number) : Number.parseInt(digits, 16);
  return code > 0x10_ff_ff ? "" : String.fromCodePoint(code);
}

class Made implements TracedText {
  readonly from: number[] = [];
  readonly to: number[] = [];
  text = "";
  readonly #of: TracedText;

  constructor(of: TracedText) {
    this.#of = of;
  }

  /** Adds a text in the place of these units. */
  add(text: string, begin: number, end: number): void {
    this.text += text;
    for (let unit = 0; unit < text.length; unit += 1) {
      this.from.push(this.#of.from[begin] ?? 0);
      this.to.push(this.#of.to[end - 1] ?? 0);
    }
  }

  keep(begin: number, end: number): void {
    for (let at = begin; at < end; at += 1) {
      this.add(this.#of.text.charAt(at), at, at + 1);
    }
  }
}

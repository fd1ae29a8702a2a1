/** Finds secrets of a kind in a text; each call may take time in proportion to the text. */
export interface Pattern {
  readonly kind: string;
  /** Has the flags `d` and `g`. */
  readonly regex: RegExp;
  /** False for a match that is not a secret. `value` is what would be replaced. */
  readonly counts?: (value: string, match: RegExpExecArray) => boolean;
}

const SECRET_NAME =
  "pass(?:word|wd|phrase)|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|credentials?";

/** Name of a value that is a secret, such as `DB_PASSWORD`. */
export const SECRET_KEY = new RegExp(`(?:${SECRET_NAME})s?$`, "i");

/**
 * Forms besides those of gitleaks: what a person would not publish, and secrets with a name before them. Each has the
 * secret in its first group that matches, or is one as a whole.
 */
export const PATTERNS: readonly Pattern[] = [
  { kind: "anthropic key", regex: /(?<![\w-])sk-ant-[a-z0-9]{3,20}-[\w-]{20,200}/dg },
  {
    kind: "authorization header",
    regex: /\b(?:bearer|basic)[ \t]{1,4}([\w.~+/-]{16,4096}={0,2})/dgi,
    counts: isRandom,
  },
  {
    kind: "password of an address",
    regex: /\b[a-z][a-z0-9+.-]{1,20}:\/\/([^\s:/@"'`<>]{0,100}):([^\s/@"'`<>]{1,200})@/dgi,
    counts: (value, [, user]) => value !== user && isNoPlaceholder(value),
  },
  {
    kind: "secret value",
    regex: new RegExp(
      `(?:${SECRET_NAME})s?\\w{0,20}["']?[ \\t]{0,4}(?::=|=>|=|:)[ \\t]{0,4}(?:"([^"\\s\\\\]{8,200})"|'([^'\\s\\\\]{8,200})'|\`([^\`\\s\\\\]{8,200})\`|([\\w+/=.~!@#%^&*-]{8,200})(?=$|[\\s"'\`;,&}]))`,
      "dgim",
    ),
    counts: isRandom,
  },
  {
    kind: "e-mail address",
    regex:
      /(?<![\w.%+-])[\w.%+-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,24}(?![\w-])/dgi,
    // neither of a repository, git@github.com:owner/name, nor the host of a URL with a password
    counts: (value, { input, index }) =>
      !value.startsWith("git@") &&
      !/:\/\/[^\s/@]*$/.test(input.slice(Math.max(0, index - 128), index)),
  },
  {
    kind: "home path",
    regex: /(?<![\w.-])\/(?:home|Users)\/(?!Shared\b|Public\b|linuxbrew\b)[\w.@-]{1,64}/dg,
  },
  { kind: "home path", regex: /(?<!\w)[a-z]:\\{1,2}Users\\{1,2}[^\\/:*?"'<>|\s]{1,64}/dgi },
];

/** Part of a name or of a number, as programs have them. */
const WORD =
  /^(?:[a-zA-Z]{0,24}\d{0,2}|[a-z]{1,16}(?:[A-Z][a-z]{1,16}){1,8}\d{0,2}|\d{1,6}[a-z]{0,2})$/;

/** True for letters with digits or signs as chance gives them: no word, no name in a program, no reference to one. */
export function isRandom(value: string): boolean {
  const isReference = /^(?:process\.env|os\.environ|env|import\.meta|\$|%|<|\{|\*{3})/.test(value);
  const isWords = value.split(/[_.:/-]+/).every((word) => WORD.test(word));
  return value.length >= 8 && /[\d!@#$%^&*+]/.test(value) && !isReference && !isWords;
}

function isNoPlaceholder(value: string): boolean {
  return !/^(?:\$|%|\{|<|\[|\*+$|x+$|pass(?:word)?$|secret$)/i.test(value);
}

/** Bits of a character, as often as the text has each. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const letter of text) {
    counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  let bits = 0;
  for (const count of counts.values()) {
    const share = count / text.length;
    bits -= share * Math.log2(share);
  }
  return bits;
}

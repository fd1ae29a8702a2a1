import type { Secret } from "../secrets.ts";
import { GITLEAKS_RULES, type SecretRule } from "./gitleaks-rules.ts";
import { entropyOf, isRandom, type Pattern, PATTERNS, SECRET_KEY } from "./patterns.ts";

/** Part of a text that is taken out. */
export interface Finding {
  /** Name for a person: `github pat`. */
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

export interface RedactOptions {
  /** Home folder of the person; replaced wherever it is. */
  readonly home?: string | undefined;
  /** Texts of the person, in each of which one `*` is up to `MAX_STAR` characters without white space. */
  readonly patterns?: readonly string[];
  /** Secrets that Reprise was given. */
  readonly secrets?: readonly Secret[];
}

/** Returns what has to go, in order and without overlaps. */
export type FindSecrets = (text: string) => readonly Finding[];

/** Characters that a `*` is at most. */
const MAX_STAR = 64;

/**
 * Finds keys, tokens, e-mail addresses, home paths, and what its options name. The rules are those of gitleaks and of
 * `patterns.ts`. Takes time in proportion to the text.
 */
export function createFinder({ home, patterns = [], secrets = [] }: RedactOptions): FindSecrets {
  const own: Pattern[] = [
    ...secrets.filter(({ value }) => value.trim().length >= MIN_SECRET).map(secretPattern),
    ...patterns.map((pattern) => ({ kind: "pattern", regex: starred(pattern) })),
    ...(home === undefined || home.length < 3 ? [] : [homePattern(home)]),
    ...PATTERNS,
  ];
  const rules = GITLEAKS_RULES.map(compiled);
  const find = (text: string): Finding[] => {
    const lower = text.toLowerCase();
    const found = [...privateKeys(text), ...own.flatMap((pattern) => matchesOf(text, pattern))];
    const present = new Map<string, boolean>();
    for (const { keywords, ...pattern } of rules) {
      if (keywords.some((word) => hasWord(lower, word, present))) {
        found.push(...matchesOf(text, pattern));
      }
    }
    return found;
  };
  return (text) => {
    const plain = withoutEscapes(text);
    return withoutOverlaps(plain === text ? find(text) : [...find(text), ...find(plain)]);
  };
}

/** The text with blanks in the place of escaped line feeds, in JSON within JSON too: the `n` does not belong to a word. */
function withoutEscapes(text: string): string {
  return text.replace(/\\{1,16}[nrt]/g, (escape) => " ".repeat(escape.length));
}

/** Replaces what was found: `[redacted: github pat]`. */
export function withoutFindings(text: string, findings: readonly Finding[]): string {
  let left = "";
  let at = 0;
  for (const { kind, from, to } of findings) {
    left += `${text.slice(at, from)}[redacted: ${kind}]`;
    at = to;
  }
  return left + text.slice(at);
}

/** Shows a secret to a person: its beginning and its length. */
export function masked(secret: string): string {
  const shown = Array.from(secret).slice(0, Math.min(4, Math.floor(secret.length / 4)));
  return `${shown.join("")}… (${secret.length} characters)`;
}

/** True for a value whose name says that it is a secret, unless it is a word. */
export function isNamedSecret(name: string, value: string): boolean {
  return SECRET_KEY.test(name) && value.length <= 200 && !/\s/.test(value) && isRandom(value);
}

/** Shorter ones are left alone: they occur in texts by chance. */
const MIN_SECRET = 8;

function secretPattern({ name, value }: Secret): Pattern {
  return { kind: name, regex: new RegExp(escaped(value.trim()), "dg") };
}

function homePattern(home: string): Pattern {
  return {
    kind: "home path",
    regex: new RegExp(`(?<![\\w.-]|:\\/)${escaped(home.replace(/[\\/]+$/, ""))}(?![\\w.-])`, "dg"),
  };
}

function starred(pattern: string): RegExp {
  return new RegExp(pattern.split("*").map(escaped).join(`\\S{0,${MAX_STAR}}`), "dg");
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function compiled({ kind, pattern, flags, keywords, entropy }: SecretRule) {
  return {
    kind,
    regex: new RegExp(pattern, flags),
    keywords,
    ...(entropy === 0 ? {} : { counts: (value: string) => entropyOf(value) >= entropy }),
  };
}

function hasWord(text: string, word: string, known: Map<string, boolean>): boolean {
  const is = known.get(word) ?? text.includes(word);
  known.set(word, is);
  return is;
}

function matchesOf(text: string, { kind, regex, counts }: Pattern): Finding[] {
  const found: Finding[] = [];
  for (const match of text.matchAll(regex)) {
    const group = match.findLastIndex((value, index) => index > 0 && value !== undefined);
    const [from, to] = match.indices?.[Math.max(group, 0)] ?? [0, 0];
    if (to > from && counts?.(text.slice(from, to), match) !== false) {
      found.push({ kind, from, to });
    }
  }
  return found;
}

const KEY_BEGIN = /-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----/;
/** Lines of a key whose end is missing: base64 and headers. */
const KEY_LINES = /^(?:[A-Za-z0-9+/=\s]|\\[nrt]|[A-Za-z-]{3,20}: [^\n]{0,200}\n)*/;
/** Longer than any private key. */
const MAX_KEY = 32 * 1024;

/** A private key up to its end, or, of one that is cut off, as far as it can be one. */
function privateKeys(text: string): Finding[] {
  const begins = [...text.matchAll(KEY_BEGIN)];
  return begins.map(({ index: from, 0: begin }, number) => {
    const next = begins[number + 1]?.index ?? text.length;
    const rest = text.slice(from + begin.length, Math.min(next, from + MAX_KEY));
    const end = KEY_END.exec(rest);
    const length =
      end === null ? (KEY_LINES.exec(rest)?.[0].trimEnd().length ?? 0) : end.index + end[0].length;
    return { kind: "private key", from, to: from + begin.length + length };
  });
}

/** Joins what overlaps; the earlier rule names it. */
function withoutOverlaps(found: readonly Finding[]): Finding[] {
  const joined: Finding[] = [];
  for (const next of found.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    const last = joined.at(-1);
    if (last === undefined || next.from >= last.to) {
      joined.push(next);
    } else if (next.to > last.to) {
      joined[joined.length - 1] = { ...last, to: next.to };
    }
  }
  return joined;
}

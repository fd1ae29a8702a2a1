/** Value that Reprise itself was given to keep, such as a provider's key. */
export interface Secret {
  /** Name that a model and a person are shown in its place, such as `ANTHROPIC_API_KEY`. */
  readonly name: string;
  readonly value: string;
}

/** Reads them as they are now. Error codes: `config_invalid`. */
export type Secrets = () => Promise<readonly Secret[]>;

/** Replaces each secret in a text by its name in brackets. */
export type Conceal = (text: string) => string;

/** Shorter ones are left alone: they occur in texts by chance. */
const MIN_SECRET = 8;
/** From this length on, what is left of a secret whose end was cut off counts too: half of it or more. */
const MIN_CUT_SECRET = 32;

/** Conceals secrets in one pass through each text, however many secrets there are. */
export function createConceal(secrets: readonly Secret[]): Conceal {
  const spelled = secrets
    .map(({ name, value }) => ({ name, value: value.trim() }))
    .filter(({ value }) => value.length >= MIN_SECRET)
    .flatMap(({ name, value }) => spellingsOf(value).map((value) => ({ name, value })))
    .sort((a, b) => b.value.length - a.value.length);
  if (spelled.length === 0) {
    return (text) => text;
  }
  const any = new RegExp(spelled.map(({ value }) => escaped(headOf(value))).join("|"), "g");
  return (text) => {
    let shown = "";
    let from = 0;
    for (let at = next(any, text, 0); at !== -1;) {
      const longest = Math.max(...spelled.map(({ value }) => foundLength(value, text, at)));
      const found = text.slice(at, at + longest);
      // the shortest one: it may be the beginning of another
      const secret = spelled.findLast(({ value }) => value.startsWith(found));
      if (longest > 0 && secret !== undefined) {
        shown += text.slice(from, at) + shownName(secret);
        from = at + longest;
      }
      at = next(any, text, Math.max(from, at + 1));
    }
    return from === 0 ? text : shown + text.slice(from);
  };
}

function next(any: RegExp, text: string, from: number): number {
  any.lastIndex = from;
  return any.exec(text)?.index ?? -1;
}

/** With the secrets as they are now; without any, nothing is replaced. Error codes: `config_invalid`. */
export async function readConceal(secrets: Secrets | undefined): Promise<Conceal> {
  return createConceal((await secrets?.()) ?? []);
}

/** Returns the text that is shown in the place of a secret. */
function shownName({ name }: Pick<Secret, "name">): string {
  return `[${name}]`;
}

/** Longer ones are files, whose base64 is left alone. */
const MAX_ENCODED = 2048;

/**
 * Adds what base64 makes of secrets, alone or within a longer text (RFC 4648), and what a header of the scheme Basic
 * holds (RFC 7617): a program that logs its requests or its settings shows one of them.
 */
export function withEncoded(secrets: readonly Secret[]): readonly Secret[] {
  return secrets
    .flatMap(({ name, value }) => [value, ...credentialsIn(value)].map((each) => [name, each]))
    .flatMap(([name = "", value = ""]) =>
      [value, ...encodingsOf(value.trim())].map((each) => ({ name, value: each })),
    );
}

/** The credentials of a header: as they are sent, as they were given, and the password. */
function credentialsIn(value: string): readonly string[] {
  const encoded = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(value.trim())?.[1];
  if (encoded === undefined) {
    return [];
  }
  const given = Buffer.from(encoded, "base64").toString("utf8");
  return [encoded, given, given.slice(given.indexOf(":") + 1)];
}

/** Base64 of a text, and what is the same of it after one and two other bytes; in both alphabets. */
function encodingsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  if (bytes.length < MIN_SECRET || bytes.length > MAX_ENCODED) {
    return [];
  }
  const within = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [bytes.toString("base64"), ...within].flatMap((text) => [
    text,
    text.replaceAll("+", "-").replaceAll("/", "_"),
  ]);
}

/** As it is, within a URL, and within JSON. */
function spellingsOf(value: string): readonly string[] {
  const text = value.toWellFormed();
  return [...new Set([value, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)])];
}

/** Characters of a secret that the one expression for all of them has: it must stay small. */
const MAX_HEAD = 256;

function headOf(value: string): string {
  return value.slice(0, Math.min(MAX_HEAD, minLength(value)));
}

/** Returns how much of a secret a text has at a position; 0 if it is too little. */
function foundLength(value: string, text: string, at: number): number {
  const min = minLength(value);
  if (!text.startsWith(value.slice(0, min), at)) {
    return 0;
  }
  let length = min;
  while (length < value.length && value[length] === text[at + length]) {
    length += 1;
  }
  return length;
}

function minLength({ length }: string): number {
  return length < MIN_CUT_SECRET ? length : Math.ceil(length / 2);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/**
 * The password of an address, as it is written and decoded; none if another part of the address is the
 * same text, such as in `postgres://postgres:postgres@localhost`: that one is not a secret.
 */
export function secretsOfAddress(name: string, address: string | null): readonly Secret[] {
  const url = address === null ? null : URL.parse(address);
  if (url === null || url.password === "") {
    return [];
  }
  const open = [url.protocol.slice(0, -1), url.username, url.hostname, url.pathname.slice(1)];
  return [url.password, decoded(url.password)]
    .filter((value) => !open.map(decoded).includes(decoded(value)))
    .map((value) => ({ name, value }));
}

/** The password of a service's address, or its user name if there is no password, and the parameters that are keys. */
export function secretsOfEndpoint(name: string, address: string | null): readonly Secret[] {
  const url = address === null ? null : URL.parse(address);
  if (url === null) {
    return [];
  }
  const { username, password } = url;
  const user = password === "" && username !== "" ? [username, decoded(username)] : [];
  const parameters = [...url.searchParams].filter(([parameter]) => isSecretName(parameter));
  const values = [...user, ...parameters.map(([, value]) => value)];
  return [...secretsOfAddress(name, address), ...values.map((value) => ({ name, value }))];
}

/** True for a header or parameter that holds a secret. The values of others, such as a program's name, occur in texts. */
export function isSecretName(name: string): boolean {
  return /auth|key|token|secret|cookie|password|sig|^code$/i.test(name);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

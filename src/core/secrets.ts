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
  const any = new RegExp(spelled.map(({ value }) => patternOf(value)).join("|"), "g");
  return (text) =>
    text.replace(any, (found) => {
      // the shortest one: it may be the beginning of another
      const secret = spelled.findLast(({ value }) => value.startsWith(found));
      return secret === undefined ? found : shownName(secret);
    });
}

/** With the secrets as they are now; without any, nothing is replaced. Error codes: `config_invalid`. */
export async function readConceal(secrets: Secrets | undefined): Promise<Conceal> {
  return createConceal((await secrets?.()) ?? []);
}

/** Returns the text that is shown in the place of a secret. */
function shownName({ name }: Pick<Secret, "name">): string {
  return `[${name}]`;
}

/** As it is, within a URL, and within JSON. */
function spellingsOf(value: string): readonly string[] {
  const text = value.toWellFormed();
  return [...new Set([value, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)])];
}

function patternOf(value: string): string {
  const from = value.length < MIN_CUT_SECRET ? value.length : Math.ceil(value.length / 2);
  let rest = "";
  for (let at = value.length - 1; at >= from; at -= 1) {
    rest = `(?:${escaped(value.charAt(at))}${rest})?`;
  }
  return escaped(value.slice(0, from)) + rest;
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

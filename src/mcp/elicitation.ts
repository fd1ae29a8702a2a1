import { oneLine, visible } from "../core/text/terminal-text.ts";
import { storableText } from "../core/text/text.ts";

/** A question of a server, checked: all texts are clean and bounded. */
export type Elicitation =
  | { readonly kind: "form"; readonly message: string; readonly fields: readonly FormField[] }
  /** The person opens the address; nothing of it is fetched. */
  | { readonly kind: "url"; readonly message: string; readonly url: string };

/** A value of a form. */
export type FieldValue = string | number | boolean | readonly string[];

export interface FormField {
  /** As the server names it. */
  readonly name: string;
  /** Line for a person. */
  readonly label: string;
  readonly isRequired: boolean;
  /** Values to choose from, with their labels; null for a text. */
  readonly options: readonly { readonly label: string; readonly value: FieldValue }[] | null;
  /** Returns the value of a text; the end of a sentence that says what is wrong with it as an `Error`. */
  readonly read: (text: string) => FieldValue | Error;
}

/** Answer that a server gets. */
export interface Elicited {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, FieldValue>>;
}

const MAX_MESSAGE = 4000;
const MAX_FIELDS = 20;
const MAX_OPTIONS = 18;
const MAX_LABEL = 150;
const MAX_URL = 2000;
/** Names of fields, as providers and forms have them. */
const NAME = /^[\w.-]{1,64}$/;
/** Words for what must not be asked for in a form: "Servers MUST NOT use form mode elicitation to request sensitive information". */
const SENSITIVE =
  /passw|passphrase|passcode|credential|secret|(?:api|access|private|secret).?key|(?:^|[^a-z])(?:token|otp|pin|cvv|cvc|ssn)(?:$|[^a-z])|[a-z]Token$|card.?number/i;

/**
 * Returns a question of a server that can be asked; otherwise the end of a sentence that says why not. Forms are flat,
 * as the specification has them: texts, numbers, yes or no, and choices. A form that asks for a secret is refused.
 */
export function readElicitation(params: unknown): Elicitation | string {
  const mode = member(params, "mode") ?? "form";
  const given = member(params, "message");
  const message = cleanText(typeof given === "string" ? given : "", MAX_MESSAGE);
  if (mode === "url") {
    const url = readAddress(member(params, "url"));
    return url instanceof Error ? url.message : { kind: "url", message, url };
  }
  if (mode !== "form") {
    return "it asks in a way that is not known";
  }
  const fields = readFields(member(params, "requestedSchema"));
  return typeof fields === "string" ? fields : { kind: "form", message, fields };
}

/** An address that a person may open: encrypted, or of this machine. */
function readAddress(given: unknown): string | Error {
  const url = typeof given === "string" && given.length <= MAX_URL ? URL.parse(given) : null;
  const isLocal = url !== null && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  if (url === null || (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal))) {
    return new Error("it names an address that is not https");
  }
  if (url.username !== "" || url.password !== "") {
    return new Error("its address has a user name or a password");
  }
  return url.href;
}

function readFields(schema: unknown): readonly FormField[] | string {
  const properties = member(schema, "properties") ?? {};
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) {
    return "its form has no fields that can be read";
  }
  const entries = Object.entries(properties);
  if (entries.length > MAX_FIELDS) {
    return `its form has ${entries.length.toLocaleString("en")} fields, and ${MAX_FIELDS} are the most`;
  }
  const required = member(schema, "required");
  const fields: FormField[] = [];
  for (const [name, property] of entries) {
    const isRequired = Array.isArray(required) && required.includes(name);
    const field = readField(name, property, isRequired);
    if (typeof field === "string") {
      return field;
    }
    fields.push(field);
  }
  return fields;
}

function readField(name: string, property: unknown, isRequired: boolean): FormField | string {
  if (!NAME.test(name) || name === "__proto__") {
    return "a field of its form has a name with other characters than letters, digits, _, . and -";
  }
  const title = textOf(property, "title") ?? name;
  const about = textOf(property, "description");
  const format = textOf(property, "format");
  if ([name, title, format ?? ""].some((text) => SENSITIVE.test(text))) {
    return `its form asks for ${oneLine(title).slice(0, MAX_LABEL)}, and a secret is not given to a server so`;
  }
  const label = cleanLine(about === null ? title : `${title}: ${about}`);
  const base = { name, label, isRequired };
  const type = member(property, "type");
  if (type === "boolean") {
    const options = [true, false].map((value) => ({ label: value ? "yes" : "no", value }));
    return { ...base, options, read: () => new Error("choose yes or no") };
  }
  if (type === "number" || type === "integer") {
    return { ...base, options: null, read: numberReader(property, type) };
  }
  if (type === "array") {
    const values = valuesIn(member(property, "items"));
    return values === null
      ? "a field of its form is a list without choices"
      : { ...base, label: listLabel(label, values), options: null, read: listReader(values) };
  }
  if (type !== "string") {
    return "a field of its form has a type that no form may have";
  }
  const values = valuesIn(property);
  if (values === null) {
    return { ...base, options: null, read: textReader(property, format) };
  }
  const options = values.map(({ value, label }) => ({ value, label }));
  const isShort = options.length <= MAX_OPTIONS && areDistinct(options);
  return isShort
    ? { ...base, options, read: () => new Error("choose one of the values") }
    : { ...base, label: listLabel(label, values), options: null, read: oneReader(values) };
}

interface Value {
  readonly value: string;
  readonly label: string;
}

const MAX_VALUES = 200;

/** The values of a choice, in each of the forms of the specification; null for none. */
function valuesIn(schema: unknown): readonly Value[] | null {
  const listed = member(schema, "enum");
  const titled = member(schema, "oneOf") ?? member(schema, "anyOf");
  const names = member(schema, "enumNames");
  if (Array.isArray(titled)) {
    return bounded(
      titled.map((each: unknown) => [member(each, "const"), member(each, "title")] as const),
    );
  }
  return Array.isArray(listed)
    ? bounded(
        listed.map((value: unknown, at) => [
          value,
          Array.isArray(names) ? (names[at] as unknown) : value,
        ]),
      )
    : null;
}

function bounded(pairs: readonly (readonly [value: unknown, label: unknown])[]): Value[] | null {
  const values = pairs
    .slice(0, MAX_VALUES)
    .flatMap(([value, label]) =>
      typeof value === "string"
        ? [{ value, label: cleanLine(typeof label === "string" ? label : value) }]
        : [],
    );
  return values.length === 0 ? null : values;
}

/** True if no label could be taken for another one, or for an answer that is always offered. */
function areDistinct(options: readonly Value[]): boolean {
  const labels = options.map(({ label }) => label.toLowerCase());
  return (
    new Set(labels).size === labels.length &&
    labels.every((label) => label !== "" && !/^(decline|cancel|leave it out)\b/.test(label))
  );
}

function listLabel(label: string, values: readonly Value[]): string {
  return cleanLine(`${label} (${values.map(({ value }) => value).join(", ")})`, 4 * MAX_LABEL);
}

function oneReader(values: readonly Value[]): FormField["read"] {
  return (text) => {
    const wanted = text.trim();
    const found = values.find(({ value, label }) => value === wanted || label === wanted);
    return found?.value ?? new Error("name one of the values");
  };
}

/** Reads values with commas between them. */
function listReader(values: readonly Value[]): FormField["read"] {
  const one = oneReader(values);
  return (text) => {
    const read = text.split(",").map((part) => one(part));
    const wrong = read.find((value) => value instanceof Error);
    return wrong === undefined
      ? read.map(String)
      : new Error("name some of the values, with commas between them");
  };
}

function numberReader(property: unknown, type: "number" | "integer"): FormField["read"] {
  const [minimum, maximum] = [member(property, "minimum"), member(property, "maximum")];
  return (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!Number.isFinite(value) || (type === "integer" && !Number.isInteger(value))) {
      return new Error(type === "integer" ? "write a whole number" : "write a number");
    }
    if (typeof minimum === "number" && value < minimum) {
      return new Error(`the least is ${minimum}`);
    }
    return typeof maximum === "number" && value > maximum
      ? new Error(`the most is ${maximum}`)
      : value;
  };
}

const FORMATS: Readonly<Record<string, readonly [pattern: RegExp, what: string]>> = {
  email: [/^[^\s@]+@[^\s@]+$/, "an address of e-mail"],
  date: [/^\d{4}-\d{2}-\d{2}$/, "a date such as 2026-01-31"],
  "date-time": [
    /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/,
    "a time such as 2026-01-31T12:00:00Z",
  ],
  uri: [/^[a-z][a-z\d+.-]*:\S+$/i, "an address such as https://example.com"],
};

function textReader(property: unknown, format: string | null): FormField["read"] {
  const [least, most] = [member(property, "minLength"), member(property, "maxLength")];
  const known =
    format === null ? undefined : Object.entries(FORMATS).find(([name]) => name === format);
  return (text) => {
    if (typeof least === "number" && text.length < least) {
      return new Error(`it has ${least} characters at least`);
    }
    if (typeof most === "number" && text.length > most) {
      return new Error(`it has ${most} characters at most`);
    }
    const [pattern, what] = known?.[1] ?? [/^/, ""];
    return pattern.test(text) ? text : new Error(`write ${what}`);
  };
}

function cleanText(text: string, max: number): string {
  const clean = visible(storableText(text.slice(0, 2 * max))).trim();
  return clean.length > max ? `${clean.slice(0, max - 1)}…` : clean;
}

function cleanLine(text: string, max = MAX_LABEL): string {
  return oneLine(cleanText(text, max)).slice(0, max).toWellFormed();
}

function textOf(value: unknown, key: string): string | null {
  const text = member(value, key);
  return typeof text === "string" ? text : null;
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}

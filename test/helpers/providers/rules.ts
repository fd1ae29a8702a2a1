import type { IncomingHttpHeaders } from "node:http";

/** A request's JSON, as the API received it. */
export type Body = Readonly<Record<string, unknown>>;

/** A refusal in the provider's words. */
export interface Refusal {
  readonly message: string;
  /** 400 without it. */
  readonly status?: number;
  /** The provider's code of the kind of error; `invalid_request_error` without it. */
  readonly type?: string;
  readonly param?: string;
  readonly code?: string;
}

/** A reason for which a provider refuses a request. */
export interface Rule<Memory> {
  readonly id: string;
  /** The page or report that says so, and the date when it did. */
  readonly source: `${string}, 2026-${number}-${number}`;
  /** Returns the refusal's sentence, or all of the refusal; null for a request that keeps the rule. */
  readonly refuses: (
    body: Body,
    headers: IncomingHttpHeaders,
    memory: Memory,
  ) => Refusal | string | null;
}

/** A rule that a request breaks. */
export interface Broken extends Refusal {
  readonly rule: string;
}

export function brokenRules<Memory>(
  rules: readonly Rule<Memory>[],
  body: Body,
  headers: IncomingHttpHeaders,
  memory: Memory,
): Broken[] {
  return rules.flatMap(({ id, refuses }) => {
    const refusal = refuses(body, headers, memory);
    return refusal === null
      ? []
      : [{ rule: id, ...(typeof refusal === "string" ? { message: refusal } : refusal) }];
  });
}

/** Names in `value` that are not among those of `known`. */
export function unknownFields(value: object, known: readonly string[]): string[] {
  return Object.keys(value).filter((name) => !known.includes(name));
}

export function repeated(values: readonly string[]): string | undefined {
  return values.find((value, at) => values.indexOf(value) !== at);
}

/** True if a text somewhere in a JSON value passes the test. */
export function someText(value: unknown, test: (text: string) => boolean): boolean {
  if (typeof value === "string") {
    return test(value);
  }
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).some(([name, one]) => test(name) || someText(one, test))
  );
}

/** Tokens of a text in all mocks. */
export function tokensIn(text: string): number {
  return Math.ceil(text.length / 3.6);
}

/** A JSON value if it is a text; empty otherwise. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

import { oneLine, quote } from "../../core/text/terminal-text.ts";
import type { SchemaProblem } from "../schema-problem.ts";
import { idOf, UnknownReference } from "./schema-set.ts";

const MAX_LENGTH = 300;

/**
 * Why a schema cannot be used, as the end of a sentence: `problems` are what the dialect says of it,
 * none if another schema that it refers to is the cause.
 */
export function reasonOf(error: unknown, problems: readonly SchemaProblem[]): string {
  const [first] = problems;
  if (first !== undefined) {
    const at = first.pointer === "" ? "" : `at ${first.pointer}, `;
    return cut(oneLine(`${at}${first.message}`));
  }
  const reference = causes(error).find((cause) => cause instanceof UnknownReference);
  if (reference !== undefined) {
    return `its reference ${quote(idOf(reference.uri))} leads to no known schema`;
  }
  if (error instanceof RangeError) {
    return "its references form a cycle";
  }
  if (error instanceof SyntaxError) {
    return cut(`a pattern in it is wrong: ${messageOf(error)}`);
  }
  if (error instanceof Error && error.constructor.name === "InvalidSchemaError") {
    return "a schema that it refers to is not valid";
  }
  return cut(messageOf(error));
}

function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let next = error; next instanceof Error; next = next.cause) {
    found.push(next);
  }
  return found;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? oneLine(error.message) : "it cannot be compiled";
}

function cut(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

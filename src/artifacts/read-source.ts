import { readJson } from "./json-source.ts";
import type { LineIndex } from "./line-index.ts";
import type { Source } from "./source.ts";
import { readYaml } from "./yaml-source.ts";

/** The notation that an artifact is written in. */
export type Syntax = "json" | "yaml";

/** Reads a text with the place of every value. */
export function readSource(
  text: string,
  { syntax, lines }: { readonly syntax: Syntax; readonly lines: LineIndex },
): Source {
  return syntax === "yaml" ? readYaml(text, lines) : readJson(text, lines);
}

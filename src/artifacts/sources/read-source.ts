import { readJson } from "./json-source.ts";
import type { LineIndex } from "../line-index.ts";
import type { SizeLimits, ParsedSource } from "./source.ts";
import { readYaml } from "./yaml-source.ts";

/** The notation that an artifact is written in. */
export type Syntax = "json" | "yaml";

/** Reads a text with the place of every value. */
export function readSource(
  text: string,
  {
    syntax,
    lines,
    limits,
  }: {
    readonly syntax: Syntax;
    readonly lines: LineIndex;
    readonly limits?: SizeLimits | undefined;
  },
): ParsedSource {
  return syntax === "yaml" ? readYaml(text, lines, limits) : readJson(text, lines, limits);
}

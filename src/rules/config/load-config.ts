import { RepriseError } from "../../core/errors.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { parseDocument, type Problem } from "./document.ts";
import { readUserConfig } from "./read-user-config.ts";
import type { UserConfig } from "./user-config.ts";

/** Where a config file cannot be used: line and column count from 1. */
export interface PlacedProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Reads the text of the user's config file. Error codes: `config_invalid`, with each place. */
export function loadUserConfig(
  text: string,
  { file, home }: { readonly file: string; readonly home: string },
): UserConfig | null {
  const { config, problems } = checkUserConfig(text, home);
  if (problems.length > 0) {
    throw configInvalid(file, problems);
  }
  return config;
}

/**
 * Reads a config together with what cannot be used of it, in the order of the text. Null for a text without a value.
 */
export function checkUserConfig(
  text: string,
  home: string,
): { readonly config: UserConfig | null; readonly problems: readonly PlacedProblem[] } {
  const { root, problems } = parseDocument(text);
  const found: Problem[] = [...problems];
  const config =
    root === null
      ? null
      : readUserConfig(root, ({ offset }, message) => found.push({ offset, message }), home);
  return { config, problems: placed(text, found) };
}

/** In the order of the text. */
export function placed(text: string, problems: readonly Problem[]): readonly PlacedProblem[] {
  return problems
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ offset, message }) => {
      const lines = text.slice(0, offset).split(/\r\n|\n|\r/);
      return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, message };
    });
}

/** More than these are not shown. */
const MAX_SHOWN = 20;

function configInvalid(file: string, problems: readonly PlacedProblem[]): RepriseError {
  const [first] = problems;
  const place = `${oneLine(file)}:${first?.line ?? 1}:${first?.column ?? 1}`;
  const others = problems
    .slice(1, MAX_SHOWN)
    .map(({ line, column, message }) => ({ pointer: `${line}:${column}`, message }));
  return new RepriseError(
    "config_invalid",
    `The config file cannot be used (${place}). ${first?.message ?? ""}`,
    { faults: others },
  );
}

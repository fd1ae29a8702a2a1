import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";

import type { Finding } from "./finding.ts";
import type { Syntax } from "./read-source.ts";
import { readText } from "./read-text.ts";

/** The text of an artifact and how it is written. */
export interface ArtifactText {
  readonly text: string;
  readonly syntax: Syntax;
}

/**
 * Reads an artifact's file: one whose name ends with .yaml or .yml is YAML, every other strict
 * JSON. One that cannot be read is the finding that says why.
 */
export async function readArtifactFile(path: string): Promise<ArtifactText | Finding> {
  const syntax = /\.ya?ml$/i.test(path) ? "yaml" : "json";
  return readArtifactStream(createReadStream(path), syntax);
}

/** Reads the artifact that a stream holds, as `readArtifactFile` does. */
export async function readArtifactStream(
  stream: Readable,
  syntax: Syntax,
): Promise<ArtifactText | Finding> {
  try {
    const text = await readText(stream);
    return typeof text === "string" ? { text, syntax } : text;
  } catch (error) {
    return unreadable(error);
  }
}

const REASONS = new Map<unknown, string>([
  ["ENOENT", "there is no such file; check the path"],
  ["ENOTDIR", "there is no such file; check the path"],
  ["EISDIR", "this is a directory; name a file in it"],
  ["EACCES", "this file may not be read; check its permissions"],
  ["EPERM", "this file may not be read; check its permissions"],
]);

function unreadable(error: unknown): Finding {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return {
    code: "file_unreadable",
    severity: "error",
    pointer: "",
    line: 1,
    column: 1,
    message: REASONS.get(code) ?? "the file could not be read; check the path and the disk",
  };
}

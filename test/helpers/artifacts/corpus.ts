import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { Finding } from "../../../src/artifacts/finding.ts";
import type { Syntax } from "../../../src/artifacts/read-source.ts";

export const CORPUS = fileURLToPath(new URL("../../fixtures/plans", import.meta.url));

export interface CorpusDocument {
  readonly file: string;
  readonly syntax: Syntax;
  readonly text: string;
  /** Each `severity code line:column pointer`, in order: the lines of the file beside it. */
  readonly findings: readonly string[];
}

/** Every document in `test/fixtures/plans/` with what has to be found in it. */
export function readCorpus(): CorpusDocument[] {
  return readdirSync(CORPUS)
    .filter((file) => /\.(json|ya?ml)$/.test(file))
    .map((file) => {
      const beside = file.replace(/\.(json|ya?ml)$/, ".findings");
      return {
        file,
        syntax: file.endsWith(".json") ? "json" : "yaml",
        text: readFileSync(`${CORPUS}/${file}`, "utf8"),
        findings: readFileSync(`${CORPUS}/${beside}`, "utf8").split("\n").slice(0, -1),
      };
    });
}

/** A finding as the corpus writes it. */
export function lineOf({ severity, code, line, column, pointer }: Finding): string {
  return `${severity} ${code} ${line}:${column} ${pointer}`.trimEnd();
}

import type { RepriseError } from "../../core/errors.ts";
import { type Finding, textError } from "../finding.ts";
import type { LineIndex } from "../line-index.ts";
import { quote } from "../../core/text/terminal-text.ts";
import { invalidFile, type BrokenSchema, type SchemaFile } from "../schema-files.ts";
import { toPositionedFinding } from "../schema-problem.ts";
import { toValue, type SourceNode } from "../sources/source.ts";
import type { SchemaSet, WorkerPool } from "./worker-pool.ts";

/** A schema that artifacts are checked against. */
export interface ArtifactSchema {
  /**
   * Finds what does not fit in a document, unordered, at most `limit` findings.
   *
   * Error codes, of a project's schema: `schema_invalid`, `schema_checks_busy`.
   */
  check(root: SourceNode, lines: LineIndex, limit: number): Finding[] | Promise<Finding[]>;
}

export interface ProjectSchemas {
  schema(file: OwnFile): ArtifactSchema;
  /**
   * Returns the files whose schemas cannot be used.
   *
   * Error codes: `schema_checks_busy`.
   */
  broken(files: readonly OwnFile[]): Promise<readonly BrokenSchema[]>;
}

type OwnFile = Pick<SchemaFile, "id" | "shown">;

export interface ProjectOptions {
  readonly set: SchemaSet;
  readonly pool: WorkerPool;
  /** Called for each schema that turns out to be none. */
  readonly onBroken: () => void;
}

/** The schemas of a project, checked by the threads of a pool. */
export function createProjectSchemas({ set, pool, onBroken }: ProjectOptions): ProjectSchemas {
  const refused = (file: OwnFile, reason: string): RepriseError => {
    onBroken();
    return invalidFile(file.shown, `is not a valid JSON Schema 2020-12: ${reason}`);
  };
  const schema = (file: OwnFile): ArtifactSchema => ({
    async check(root, lines, limit) {
      const order = { id: file.id, document: { value: toValue(root) } };
      const verdict = await pool.run(set, order);
      if (verdict.kind === "unusable") {
        throw refused(file, verdict.reason);
      }
      if (verdict.kind === "stopped") {
        const message = `checking this against the schema ${quote(file.id)} (${file.shown}) ${verdict.reason} and was stopped; simplify its patterns, or shorten the document`;
        return [textError("check_stopped", message, lines(root.start))];
      }
      return verdict.problems
        .slice(0, limit)
        .map((problem) => toPositionedFinding(problem, root, lines));
    },
  });
  const brokenAmong = async (files: readonly OwnFile[]): Promise<BrokenSchema[]> => {
    const broken: BrokenSchema[] = [];
    for (const file of files) {
      const verdict = await pool.run(set, { id: file.id });
      if (verdict.kind === "checked") {
        continue;
      }
      const reason = verdict.kind === "unusable" ? verdict.reason : `checking it ${verdict.reason}`;
      broken.push({ id: file.id, owns: true, error: refused(file, reason) });
    }
    return broken;
  };
  return { schema, broken: brokenAmong };
}

import { Ajv2020 } from "ajv/dist/2020.js";
import type { Options, ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

import { isUuid } from "../core/ids.ts";
import { MAX_FINDINGS, type Finding } from "./finding.ts";
import type { LineIndex } from "./line-index.ts";
import { describeProblem, toPositionedFinding } from "./schema-problem.ts";
import { toValue, type JsonObject, type SourceNode } from "./sources/source.ts";

export interface CompiledSchema {
  /** Whether a plain value fits the schema. */
  accepts(value: unknown): boolean;
  /** Finds what does not fit in a document, unordered, at most `limit` findings. */
  check(root: SourceNode, lines: LineIndex, limit: number): Finding[];
}

/**
 * Compiles one JSON Schema that comes with Reprise (2020-12, strict: an unknown keyword or format is
 * refused), the quick way: into code. Foreign schemas are checked in threads, see `project/`.
 */
export function compileSchema(schema: JsonObject): CompiledSchema {
  const accepts: ValidateFunction = createAjv({ allErrors: false }).compile(schema);
  let explainer: ValidateFunction | undefined;
  return {
    accepts: (value) => accepts(value),
    check: (root, lines, limit) => {
      const value = toValue(root);
      if (accepts(value)) {
        return [];
      }
      // verbose: an error's sentence needs the value and the names that its schema knows
      const options = { allErrors: true, verbose: true, code: { process: stopAtLimit } };
      explainer ??= createAjv(options).compile(schema);
      explainer(value);
      return (explainer.errors ?? [])
        .slice(0, limit)
        .map((error) => toPositionedFinding(describeProblem(error), root, lines));
    },
  };
}

function createAjv(options: Options): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    ownProperties: true,
    logger: false,
    ...options,
  });
  addFormats.default(ajv);
  // the format of ajv-formats also takes the prefix `urn:uuid:`
  ajv.addFormat("uuid", isUuid);
  return ajv;
}

/**
 * Lets a validator end with the first errors: ajv itself would list millions, each an object of
 * eight fields, which no memory holds. It is asked only about what is known not to fit.
 */
function stopAtLimit(code: string): string {
  const name = /\bfunction (validate\d+)\(data\b/.exec(code)?.[1];
  if (name === undefined) {
    throw new TypeError("the validator has another form than expected");
  }
  const stop = `if (errors > ${MAX_FINDINGS}) { ${name}.errors = vErrors; return false; }`;
  return code.replaceAll(
    /errors\+\+;|errors = vErrors\.length;/g,
    (counted) => `${counted} ${stop}`,
  );
}

import { Ajv2020 } from "ajv/dist/2020.js";
import type { ErrorObject, Options, ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

import { MAX_FINDINGS } from "./finding.ts";
import type { Finding } from "./finding.ts";
import type { LineIndex } from "./line-index.ts";
import { printable } from "./quote.ts";
import { invalidFile } from "./schema-files.ts";
import type { SchemaFile } from "./schema-files.ts";
import { describeFault } from "./schema-fault.ts";
import { locate, toValue } from "./source.ts";
import type { SourceNode } from "./source.ts";
import { isUuid } from "./uuid.ts";

export interface CompiledSchema {
  /** Whether a plain value fits the schema. */
  accepts(value: unknown): boolean;
  /** What of a document does not fit, unordered, at most `limit` findings. */
  check(root: SourceNode, lines: LineIndex, limit: number): Finding[];
}

/**
 * Compiles JSON Schemas (2020-12, strict: an unknown keyword or format is refused) together, so
 * that `$ref` in one may name another by its id, as it stands, with or without a fragment.
 *
 * @throws RepriseError `schema_invalid`, naming the file.
 */
export function compileSchemas(
  files: readonly Pick<SchemaFile, "id" | "shown" | "schema">[],
): Map<string, CompiledSchema> {
  const judge = createAjv(files, { allErrors: false });
  for (const { id, shown } of files) refuseInvalid(shown, () => compiled(judge, id));
  let explainer: Ajv2020 | undefined;
  const explain = (id: string): ValidateFunction => {
    explainer ??= createAjv(files, {
      allErrors: true,
      // a fault's sentence needs the value and the names that its schema knows
      verbose: true,
      code: { process: stopAtLimit },
    });
    return compiled(explainer, id);
  };
  return new Map(files.map(({ id }) => [id, toChecks(compiled(judge, id), () => explain(id))]));
}

/** ajv's own keyword `$async` makes a validator whose answer is a promise: always true, and thrown. */
function compiled(ajv: Ajv2020, id: string): ValidateFunction {
  const validate = ajv.getSchema(id);
  if (validate === undefined) throw new TypeError("a schema that was added has its id");
  if ("$async" in validate) throw new Error('strict mode: unknown keyword: "$async"');
  return validate;
}

function createAjv(
  files: readonly Pick<SchemaFile, "id" | "shown" | "schema">[],
  options: Options,
): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    ownProperties: true,
    logger: false,
    uriResolver: resolveById(new Set(files.map(({ id }) => id))),
    ...options,
  });
  addFormats.default(ajv);
  // the format of ajv-formats also takes the prefix `urn:uuid:`
  ajv.addFormat("uuid", isUuid);
  for (const { shown, schema } of files) refuseInvalid(shown, () => ajv.addSchema(schema));
  return ajv;
}

/**
 * Lets a validator end with the first errors: ajv itself would list millions, each an object of
 * eight fields, which no memory holds. It is asked only about what is known not to fit.
 */
function stopAtLimit(code: string): string {
  const name = /\bfunction (validate\d+)\(data\b/.exec(code)?.[1];
  if (name === undefined) throw new TypeError("the validator has another form than expected");
  const stop = `if (errors > ${MAX_FINDINGS}) { ${name}.errors = vErrors; return false; }`;
  return code.replaceAll(
    /errors\+\+;|errors = vErrors\.length;/g,
    (counted) => `${counted} ${stop}`,
  );
}

/**
 * Ids like `dev/spec@1` are no paths: read as relative references, `dev/spec@1` in the schema
 * `dev/plan@1` would mean `dev/dev/spec@1`. An id that is known is taken as it stands.
 */
function resolveById(ids: ReadonlySet<string>): NonNullable<Options["uriResolver"]> {
  return {
    parse: (uri) => {
      const at = uri.indexOf("#");
      return at === -1 ? { path: uri } : { path: uri.slice(0, at), fragment: uri.slice(at + 1) };
    },
    serialize: ({ path = "", fragment }) => (fragment === undefined ? path : `${path}#${fragment}`),
    resolve: (base, reference) => {
      if (reference.startsWith("#")) return `${withoutFragment(base)}${reference}`;
      if (ids.has(withoutFragment(reference)) || !URL.canParse(base)) return reference;
      return new URL(reference, base).href;
    },
  };
}

function withoutFragment(uri: string): string {
  return uri.replace(/#.*$/s, "");
}

function refuseInvalid<Result>(shown: string, compile: () => Result): Result {
  try {
    return compile();
  } catch (cause) {
    const reason = cause instanceof Error ? printable(cause.message).slice(0, 300) : "";
    throw invalidFile(shown, `is not a valid JSON Schema 2020-12 (${reason})`, cause);
  }
}

function toChecks(accepts: ValidateFunction, explain: () => ValidateFunction): CompiledSchema {
  return {
    accepts: (value) => accepts(value),
    check: (root, lines, limit) => {
      const value = toValue(root);
      if (accepts(value)) return [];
      const validate = explain();
      validate(value);
      const errors = validate.errors ?? [];
      return errors.slice(0, limit).map((error) => toFinding(error, root, lines));
    },
  };
}

function toFinding(error: ErrorObject, root: SourceNode, lines: LineIndex): Finding {
  const { atName, ...fault } = describeFault(error);
  const place = locate(root, fault.pointer);
  const offset = (atName ? place?.keyStart : place?.node.start) ?? root.start;
  return { severity: "error", ...lines(offset), ...fault };
}

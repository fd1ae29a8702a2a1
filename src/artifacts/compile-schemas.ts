import { Ajv2020 } from "ajv/dist/2020.js";
import type { ErrorObject, Options, ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

import type { RepriseError } from "../core/errors.ts";
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
): ReadonlyMap<string, CompiledSchema> {
  const { schemas, faults } = compileSound(files);
  const [first] = faults.values();
  if (first !== undefined) throw first;
  return schemas;
}

/** The schemas that are sound, and the refusal of each other one, by id. */
export interface Compiled {
  readonly schemas: ReadonlyMap<string, CompiledSchema>;
  readonly faults: ReadonlyMap<string, RepriseError>;
}

/** Compiles as `compileSchemas` does; a schema that is none takes only those with it that refer to it. */
export function compileSound(files: readonly Schema[]): Compiled {
  const faults = new Map<string, RepriseError>();
  for (let sound = files; ; sound = sound.filter(({ id }) => !faults.has(id))) {
    const judge = createAjv(sound, { allErrors: false });
    const found = faultsAmong(judge, sound);
    if (found.size === 0) return { schemas: withExplainer(judge, sound), faults };
    for (const [id, fault] of found) faults.set(id, fault);
  }
}

type Schema = Pick<SchemaFile, "id" | "shown" | "schema">;

function faultsAmong(judge: Ajv2020, files: readonly Schema[]): Map<string, RepriseError> {
  const found = new Map<string, RepriseError>();
  const attempt = ({ id, shown }: Schema, work: () => unknown): void => {
    try {
      work();
    } catch (cause) {
      found.set(id, invalidSchema(shown, cause));
    }
  };
  for (const file of files) attempt(file, () => judge.addSchema(file.schema));
  for (const file of files) if (!found.has(file.id)) attempt(file, () => compiled(judge, file.id));
  return found;
}

function withExplainer(judge: Ajv2020, files: readonly Schema[]): Map<string, CompiledSchema> {
  let explainer: Ajv2020 | undefined;
  const explain = (id: string): ValidateFunction => {
    if (explainer === undefined) {
      explainer = createAjv(files, {
        allErrors: true,
        // a fault's sentence needs the value and the names that its schema knows
        verbose: true,
        code: { process: stopAtLimit },
      });
      for (const { schema } of files) explainer.addSchema(schema);
    }
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

function createAjv(files: readonly Schema[], options: Options): Ajv2020 {
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

function invalidSchema(shown: string, cause: unknown): RepriseError {
  const reason = cause instanceof Error ? sentenceOf(cause.message) : "";
  return invalidFile(shown, `is not a valid JSON Schema 2020-12: ${reason}`, cause);
}

/** What ajv says, in words of ours where it speaks of itself. */
function sentenceOf(message: string): string {
  const ours = message
    .replace(/^strict mode: /, "")
    .replace(/^schema is invalid: data(\S*) /, (_, at: string) => `${at === "" ? "it" : at} `)
    .replace(/ \(strict\w+\)$/, "")
    .replace(/, data\/.*$/s, "")
    .replace(/ must NOT /, " must not ")
    .replace(
      /^missing type "(.*)" for keyword "(.*)" at.*$/s,
      'the keyword "$2" needs "type": "$1" beside it',
    )
    .replace(/^unknown keyword: "(.*)"$/s, 'it has the keyword "$1", which does not exist')
    .replace(/^unknown format "(.*)" ignored in schema.*$/s, 'the format "$1" is not known')
    .replace(/^can't resolve reference (\S+) from id.*$/s, "$1 leads to no sound schema")
    .replace(/^(\S+) leads/, "its reference $1 leads");
  return printable(ours).slice(0, 300);
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

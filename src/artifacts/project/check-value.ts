import "@hyperjump/json-schema/draft-2020-12";
import type { Document } from "@hyperjump/browser";
import { InvalidSchemaError } from "@hyperjump/json-schema";
import {
  compile,
  getSchema,
  interpret,
  type CompiledSchema,
} from "@hyperjump/json-schema/experimental";
import { fromJs } from "@hyperjump/json-schema/instance/experimental";

import { MAX_FINDINGS } from "../finding.ts";
import type { SchemaProblem } from "../schema-problem.ts";
import { type JsonValue, nameOfStep } from "../sources/source.ts";
import { createErrorPlugin } from "./error-plugin.ts";
import { describeRules, type ReadSchema } from "./rule-problems.ts";
import { addSchemas, DIALECT, uriOf, type SetSchema } from "./schema-set.ts";
import { reasonOf } from "./unusable.ts";

/** Result of checking one value: its errors, or why the schema cannot be used. */
export type Verdict =
  | { readonly kind: "checked"; readonly problems: readonly SchemaProblem[] }
  | { readonly kind: "unusable"; readonly reason: string };

/** Value to check, and the schema. */
export interface CheckOrder {
  /** The id of a schema of the set. */
  readonly id: string;
  /** Left out if only the schema itself is to be checked. */
  readonly document?: { readonly value: JsonValue };
}

export type CheckValue = (order: CheckOrder) => Promise<Verdict>;

/**
 * Makes a checker for one set of schemas, which a thread has one of. The dialect itself is compiled
 * before the set is known: that does not count towards the time of a set.
 */
export async function createCheckValue(): Promise<(set: readonly SetSchema[]) => CheckValue> {
  const dialect = await compile(await getSchema(DIALECT));
  return (set) => {
    const failed = addSchemas(set);
    const usable = set.filter(({ id }) => !failed.has(id)).map(({ id }) => uriOf(id));
    const documents = createDocuments([DIALECT, ...META, ...usable]);
    const compiled = createCompiler(failed, documents);
    return async ({ id, document }) => {
      try {
        const schema = await compiled(id);
        const problems =
          document === undefined ? [] : await problemsOf(schema, document.value, documents);
        return { kind: "checked", problems };
      } catch (error) {
        const own = set.find((each) => each.id === id)?.schema;
        const invalid = error instanceof InvalidSchemaError && own !== undefined;
        const problems = invalid ? await problemsOf(dialect, own, documents) : [];
        return { kind: "unusable", reason: reasonOf(error, problems) };
      }
    };
  };
}

/** The parts of the dialect's own schema. */
const META = ["core", "applicator", "unevaluated", "validation", "meta-data"].map(
  (name) => `https://json-schema.org/draft/2020-12/meta/${name}`,
);

/** Compiles each schema once, together with those that it refers to. */
function createCompiler(
  failed: ReadonlyMap<string, unknown>,
  documents: () => Promise<readonly Document[]>,
): (id: string) => Promise<CompiledSchema> {
  const compiled = new Map<string, Promise<CompiledSchema>>();
  const compileFresh = async (id: string): Promise<CompiledSchema> => {
    if (failed.has(id)) {
      throw failed.get(id);
    }
    try {
      return await compile(await getSchema(uriOf(id)));
    } catch (error) {
      // the library marks a schema as valid before it checks it, so the next to refer to it would pass
      for (const document of await documents()) {
        Object.assign(document, { validated: false });
      }
      throw error;
    }
  };
  return (id) => {
    const known = compiled.get(id) ?? compileFresh(id);
    compiled.set(id, known);
    return known;
  };
}

/** The documents of schemas, those embedded in them too; read once. */
function createDocuments(uris: readonly string[]): () => Promise<readonly Document[]> {
  let reading: Promise<readonly Document[]> | undefined;
  const read = async (): Promise<readonly Document[]> => {
    const documents: Document[] = [];
    for (const uri of uris) {
      const { document } = await getSchema(uri);
      documents.push(document, ...Object.values(document.embedded ?? {}));
    }
    return documents;
  };
  return () => (reading ??= read());
}

async function problemsOf(
  schema: CompiledSchema,
  value: JsonValue,
  documents: () => Promise<readonly Document[]>,
): Promise<SchemaProblem[]> {
  const instance = fromJs(value);
  if (interpret(schema, instance, "FLAG").valid) {
    return [];
  }
  const plugin = createErrorPlugin(MAX_FINDINGS + 1);
  interpret(schema, instance, { outputFormat: "FLAG", plugins: [plugin] });
  const problems = describeRules(plugin.broken(), readerOf(await documents()));
  return problems.length > 0 ? problems : [unexplained];
}

function readerOf(documents: readonly Document[]): ReadSchema {
  const byUri = new Map(documents.map((document) => [document.baseUri, document]));
  const known = new Map<string, unknown>();
  return (location) => {
    if (!known.has(location)) {
      known.set(location, valueAt(location, byUri));
    }
    return known.get(location);
  };
}

function valueAt(location: string, byUri: ReadonlyMap<string, Document>): unknown {
  const [base = "", fragment = ""] = location.split("#");
  let found: unknown = byUri.get(base)?.root;
  for (const step of decoded(fragment).split("/").slice(1)) {
    found = Object(found)[nameOfStep(step)];
  }
  return found;
}

function decoded(fragment: string): string {
  try {
    return decodeURI(fragment);
  } catch {
    return fragment;
  }
}

const unexplained: SchemaProblem = {
  code: "schema_mismatch",
  pointer: "",
  message: "the document does not fit the schema",
  atName: false,
};

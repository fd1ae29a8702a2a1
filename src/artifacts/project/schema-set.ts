import { addUriSchemePlugin } from "@hyperjump/browser";
import { registerSchema } from "@hyperjump/json-schema/draft-2020-12";
import "@hyperjump/json-schema/formats";

import type { JsonObject } from "../sources/source.ts";

/** A schema of the set, with the id under which others refer to it. */
export interface SetSchema {
  readonly id: string;
  readonly schema: JsonObject;
  /** Whether `format` is checked; in JSON Schema 2020-12 it is an annotation. */
  readonly assertsFormats: boolean;
}

export const DIALECT = "https://json-schema.org/draft/2020-12/schema";
/** Dialect with the format-assertion vocabulary. */
const ASSERTING = "reprise:/asserting";

/**
 * Makes the schemas of one set known to the validator of this thread, which keeps them in its own
 * module: a thread holds one set. References lead to schemas of the set and to the dialect's own;
 * none is ever retrieved, wherever it points.
 *
 * Returns, by id, what is wrong with a schema that could not be added.
 */
export function addSchemas(schemas: readonly SetSchema[]): ReadonlyMap<string, unknown> {
  retrieveNothingBut(schemas);
  registerSchema(assertingDialect(), ASSERTING);
  let waiting = schemas;
  for (;;) {
    const failed = new Map<string, unknown>();
    for (const each of waiting) {
      add(each, failed);
    }
    // a schema may come before the dialect that it is written in
    if (failed.size === 0 || failed.size === waiting.length) {
      return failed;
    }
    waiting = waiting.filter(({ id }) => failed.has(id));
  }
}

function add(each: SetSchema, failed: Map<string, unknown>): void {
  try {
    const document = documentOf(each);
    const uris = new Set([uriOf(each.id), baseOf(each.id)]);
    // the base comes last: it may be registered once only
    for (const uri of uris) {
      registerSchema(document, uri, DIALECT);
    }
  } catch (error) {
    failed.set(each.id, error);
  }
}

function documentOf({ id, schema, assertsFormats }: SetSchema) {
  return { ...schema, $id: baseOf(id), ...(assertsFormats ? { $schema: ASSERTING } : {}) };
}

/** The URI of a schema: its id, or below the root of our scheme if the id is a relative reference. */
export function uriOf(id: string): string {
  return URL.canParse(id) ? id : `reprise:/${encodeURI(id)}`;
}

/**
 * The URI that references in the schema are resolved with. Ids like `dev/spec@1` are not paths: the
 * reference `dev/spec@1` in `dev/plan@1` means that id and not `dev/dev/spec@1`.
 */
function baseOf(id: string): string {
  return URL.canParse(id) ? id : `reprise:/${encodeURI(id).replaceAll("/", "%2F")}`;
}

/** The id in a URI of our scheme; any other URI unchanged. */
export function idOf(uri: string): string {
  return uri.startsWith("reprise:/") ? decodeURIComponent(uri.slice("reprise:/".length)) : uri;
}

/** A reference that leads to no schema of the set. */
export class UnknownReference extends Error {
  override readonly name = "UnknownReference";
  readonly uri: string;

  constructor(uri: string) {
    super("a reference leads to no known schema");
    this.uri = uri;
  }
}

const SCHEMES = ["http", "https", "file", "urn", "tag", "reprise"];

/** In a schema whose id is a URL, an id like `dev/spec@1` is still used unchanged. */
function retrieveNothingBut(schemas: readonly SetSchema[]): void {
  const relative = schemas.filter(({ id }) => !URL.canParse(id));
  const retrieve = async (uri: string, baseUri?: string): Promise<Response> => {
    const absolute = uri.replace(/#.*$/s, "");
    const meant = relative.find(({ id }) => URL.parse(encodeURI(id), baseUri)?.href === absolute);
    if (meant === undefined) {
      throw new UnknownReference(absolute);
    }
    const response = Response.json(documentOf(meant), {
      headers: { "content-type": `application/schema+json; schema="${DIALECT}"` },
    });
    Object.defineProperty(response, "url", { value: absolute });
    return response;
  };
  for (const scheme of SCHEMES) {
    addUriSchemePlugin(scheme, { retrieve });
  }
}

function assertingDialect() {
  const vocabulary = (name: string) => [
    `https://json-schema.org/draft/2020-12/vocab/${name}`,
    true,
  ];
  const names = ["core", "applicator", "unevaluated", "validation", "meta-data", "content"];
  return {
    $schema: DIALECT,
    $vocabulary: Object.fromEntries([...names, "format-assertion"].map(vocabulary)),
    $dynamicAnchor: "meta",
    $ref: DIALECT,
  };
}

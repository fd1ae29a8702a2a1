import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

export interface ApiParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly schema: ApiSchema;
}

export interface ApiSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, ApiSchema>>;
}

export interface ApiOperation {
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: ApiSchema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema: ApiSchema }>> }>
  >;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, ApiSchema>> };
}

export interface ApiCall {
  readonly method: string;
  readonly template: string;
  readonly operation: ApiOperation;
}

export async function readApi(
  url: string,
  headers: Record<string, string> = {},
): Promise<ApiDocument> {
  return (await (await fetch(`${url}/openapi.json`, { headers })).json()) as ApiDocument;
}

export function callsOf(document: ApiDocument): ApiCall[] {
  return Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      operation,
    })),
  );
}

/** The schema that a reference names. */
export function resolveSchema(document: ApiDocument, schema: ApiSchema): ApiSchema {
  const name = schema.$ref?.replace(/^.*\//, "");
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

/** Checks answers against the document: returns what does not match, null if everything does. */
export function createAnswerCheck(document: ApiDocument) {
  const base = "https://reprise.invalid/openapi";
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addFormat("storable-text", true);
  ajv.addSchema({ $id: base, ...document });
  const validate = (pointer: readonly string[], value: unknown): string | null => {
    const parts = pointer.map((part) =>
      encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")),
    );
    const check = ajv.getSchema(`${base}#/${parts.join("/")}`);
    return check === undefined || check(value) === true
      ? null
      : `does not fit the document: ${JSON.stringify(check.errors)}`;
  };
  return {
    problem: (value: unknown) => validate(["components", "schemas", "Problem"], value),
    answer: (call: ApiCall, answer: { status: number; type: string; value: unknown }) => {
      const described = call.operation.responses[answer.status];
      if (described === undefined) {
        return `status ${answer.status} is not in the document`;
      }
      if (answer.value === null || described.content === undefined) {
        return null;
      }
      if (described.content[answer.type] === undefined) {
        return `${answer.type} is not in the document`;
      }
      const { template, method } = call;
      return validate(
        [
          "paths",
          template,
          method.toLowerCase(),
          "responses",
          String(answer.status),
          "content",
          answer.type,
          "schema",
        ],
        answer.value,
      );
    },
  };
}

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Described>>;
}
interface Described {
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface Call {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Checked {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface StrictClient {
  readonly operations: readonly string[];
  /** Sends a call and throws if its answer is not exactly as the document says. */
  call(operationId: string, call?: Call): Promise<Checked>;
  /** Throws unless the value is a `components.schemas` value of this name. */
  check(schema: string, value: unknown): void;
}

/**
 * Makes a client from an OpenAPI document, as strict as generated ones can be: an answer whose
 * status, media type or headers are not in the document, or whose body has a field more or less,
 * is an error.
 */
export function createStrictClient(document: OpenApi, baseUrl: string): StrictClient {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addFormat("storable-text", true);
  const root = "https://reprise.invalid/openapi";
  ajv.addSchema({ $id: root, ...document });
  const validator = (...pointer: readonly string[]): ValidateFunction => {
    const path = pointer
      .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
      .join("/");
    const validate = ajv.getSchema(`${root}#/${path}`);
    if (validate === undefined) {
      throw new Error(`the document has no ${path}`);
    }
    return validate;
  };
  const operations = new Map(
    Object.entries(document.paths).flatMap(([template, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [operation.operationId, { template, method, operation }] as const,
      ),
    ),
  );
  return {
    operations: [...operations.keys()],
    check: (schema, value) => accept(validator("components", "schemas", schema), value, schema),
    call: async (operationId, { path = {}, query = {}, body, headers = {} } = {}) => {
      const found = operations.get(operationId);
      if (found === undefined) {
        throw new Error(`the document has no operation ${operationId}`);
      }
      const { template, method, operation } = found;
      const target = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(path[name] ?? ""),
      );
      const search = new URLSearchParams(query).toString();
      const answer = await fetch(`${baseUrl}${target}${search === "" ? "" : `?${search}`}`, {
        method: method.toUpperCase(),
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const where = `${operationId} ${answer.status}`;
      const described = operation.responses[answer.status];
      if (described === undefined) {
        throw new Error(`${where} is not in the document`);
      }
      const text = await answer.text();
      const type = (answer.headers.get("content-type") ?? "").replace(/;.*$/, "");
      if (text === "" || type.startsWith("text/")) {
        return { status: answer.status, headers: answer.headers, body: text };
      }
      if (described.content?.[type] === undefined) {
        throw new Error(`${where} has the undocumented type ${type}`);
      }
      const json: unknown = JSON.parse(text);
      const status = String(answer.status);
      accept(
        validator("paths", template, method, "responses", status, "content", type, "schema"),
        json,
        where,
      );
      return { status: answer.status, headers: answer.headers, body: json };
    },
  };
}

function accept(validate: ValidateFunction, value: unknown, what: string): void {
  if (!validate(value)) {
    throw new Error(`${what} does not fit the document: ${JSON.stringify(validate.errors)}`);
  }
}

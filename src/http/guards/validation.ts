import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";

import { CreateShareRequest, LoginRequest } from "../../core/schemas/access-schemas.ts";
import type { Fault, RepriseError } from "../../core/errors.ts";
import { invalidRequest } from "../../core/invalid-request.ts";
import { PatchSessionRequest } from "../../core/schemas/patch-session.ts";
import {
  CreatePlanRunRequest,
  ResumePlanRunRequest,
} from "../../core/schemas/plan-run-requests.ts";
import { UndoRequest } from "../../core/schemas/file-change-schemas.ts";
import { faultsOf, STORABLE_TEXT } from "../../core/schemas/schema-errors.ts";
import {
  CreateSessionRequest,
  EndSessionRequest,
  ForkSessionRequest,
  PostMessageRequest,
  QueueExchangeRequest,
  AnswerRequest,
} from "../../core/schemas/schemas.ts";
import { isStorableText } from "../../core/text/text.ts";
import { parameterTypes, type QueryText, readQuery } from "./query.ts";

/**
 * Makes the validators of all routes. Bodies are not changed: nothing is converted, nothing
 * unknown is dropped. Query parameters arrive as text and are read strictly by their schema.
 *
 * A validator returns the value, or a RepriseError `invalid_request` that lists every problem. It is
 * compiled when it is first called: to compile all of them takes longer than the rest of a start.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  const checkOf = createChecks();
  return ({ schema, httpPart }) => {
    const check = checkOf(schema);
    if (httpPart !== "querystring") {
      return (value: unknown) => check(value, "field");
    }
    const types = parameterTypes(schema);
    return (query: QueryText) => {
      const { values, faults } = readQuery(query, types);
      return check(values, "parameter", faults);
    };
  };
}

/** `earlier`: problems that were found before the value was checked. */
type Check = (
  value: unknown,
  what: "field" | "parameter",
  earlier?: readonly Fault[],
) => { readonly value: unknown } | { readonly error: RepriseError };

/**
 * Checks values by schemas, each of which is compiled when it is first used. Defaults are filled in;
 * nothing else is changed.
 */
export function createChecks(): (schema: TSchema) => Check {
  let ajv: Ajv2020 | null = null;
  return (schema) => {
    let validate: ValidateFunction | null = null;
    return (value, what, earlier = []) => {
      validate ??= (ajv ??= createAjv()).compile(schema);
      const faults = validate(value)
        ? earlier
        : [...earlier, ...faultsOf(validate.errors ?? [], what)];
      return faults.length === 0 ? { value } : { error: invalidRequest(faults) };
    };
  };
}

function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    allErrors: true,
    verbose: true,
    ownProperties: true,
    useDefaults: true,
    // these schemas are ours: to check them compiles the schema of schemas, which takes longest
    validateSchema: false,
  });
  addFormats.default(ajv);
  ajv.addFormat(STORABLE_TEXT, isStorableText);
  ajv.addSchema([
    CreateSessionRequest,
    PostMessageRequest,
    EndSessionRequest,
    ForkSessionRequest,
    QueueExchangeRequest,
    AnswerRequest,
    PatchSessionRequest,
    UndoRequest,
    CreatePlanRunRequest,
    ResumePlanRunRequest,
    LoginRequest,
    CreateShareRequest,
  ]);
  return ajv;
}

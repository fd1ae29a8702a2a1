import { value as instanceValue } from "@hyperjump/json-schema/instance/experimental";

import type { SchemaError } from "../../core/schemas/schema-errors.ts";
import { describeProblem, type SchemaProblem } from "../schema-problem.ts";
import { nameOfStep } from "../sources/source.ts";
import type { BrokenRule } from "./error-plugin.ts";

/** The value at a place in a schema, by its URI; undefined if there is none. */
export type ReadSchema = (location: string) => unknown;

/** Describes rules that were broken, one or more errors for each. */
export function describeRules(rules: readonly BrokenRule[], read: ReadSchema): SchemaProblem[] {
  return rules.flatMap((rule) => errorsOf(rule, read)).map(describeProblem);
}

function errorsOf({ location, instance }: BrokenRule, read: ReadSchema): SchemaError[] {
  const [base = "", pointer = ""] = location.split("#");
  const parent = pointer.slice(0, pointer.lastIndexOf("/"));
  const keyword = pointer.slice(pointer.lastIndexOf("/") + 1);
  const parentSchema: object = Object(read(`${base}#${parent}`));
  const rulesValue = read(location);
  const data: unknown = instanceValue(instance);
  const schemaError = (name: string, params: Readonly<Record<string, unknown>>): SchemaError => {
    return { keyword: name, instancePath: instance.pointer, params, data, parentSchema };
  };
  if (rulesValue === false) {
    return [forbidden(keyword, schemaError)];
  }
  switch (keyword) {
    case "required":
      return missingFrom(data, rulesValue).map((name) => {
        return schemaError(keyword, { missingProperty: name });
      });
    case "dependentRequired":
      return Object.entries(Object(rulesValue))
        .filter(([name]) => Object.hasOwn(Object(data), name))
        .flatMap(([, names]) => missingFrom(data, names))
        .map((name) => schemaError(keyword, { missingProperty: name }));
    default:
      return [schemaError(keyword, paramsOf(keyword, rulesValue))];
  }
}

function missingFrom(data: unknown, names: unknown): string[] {
  return [names]
    .flat()
    .filter((name) => typeof name === "string")
    .filter((name) => !Object.hasOwn(Object(data), name));
}

/** A schema `false` as the value of a keyword for properties, or anywhere else. */
function forbidden(
  keyword: string,
  schemaError: (name: string, params: Readonly<Record<string, unknown>>) => SchemaError,
): SchemaError {
  if (keyword !== "additionalProperties" && keyword !== "unevaluatedProperties") {
    return schemaError("false schema", {});
  }
  const { instancePath, ...rest } = schemaError(keyword, {});
  const at = instancePath.lastIndexOf("/");
  const name = nameOfStep(instancePath.slice(at + 1));
  return { ...rest, instancePath: instancePath.slice(0, at), params: { additionalProperty: name } };
}

function paramsOf(keyword: string, rulesValue: unknown): Readonly<Record<string, unknown>> {
  switch (keyword) {
    case "type":
    case "pattern":
    case "format":
    case "multipleOf":
      return { [keyword]: rulesValue };
    case "enum":
      return { allowedValues: rulesValue };
    case "const":
      return { allowedValue: rulesValue };
    default:
      return { limit: rulesValue };
  }
}

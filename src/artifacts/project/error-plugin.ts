import type { EvaluationPlugin, ValidationContext } from "@hyperjump/json-schema/experimental";
import type { JsonNode } from "@hyperjump/json-schema/instance/experimental";

/** A rule of a schema that a value does not keep. */
export interface BrokenRule {
  /** The URI of the keyword, or of the schema `false`. */
  readonly location: string;
  readonly instance: JsonNode;
}

interface ErrorContext extends ValidationContext {
  broken?: BrokenRule[];
}

type RuleNode = readonly [keyword: string, location: string, value: unknown];

/** Keywords whose parts are not what a document has to keep. */
const OPAQUE = /\/(?:not|contains|if)$/;

/**
 * Collects what a document has wrong, while it is checked. Each list holds at most `limit` rules:
 * a document may break millions. What belongs to a branch that was not taken is left out, so the
 * result may be empty although the document is invalid.
 */
export function createErrorPlugin(limit: number): EvaluationPlugin<ErrorContext> & {
  readonly broken: () => readonly BrokenRule[];
} {
  let broken: readonly BrokenRule[] = [];
  const add = (context: ErrorContext, rules: readonly BrokenRule[]): void => {
    const list = (context.broken ??= []);
    list.push(...rules.slice(0, limit - list.length));
  };
  return {
    broken: () => broken,
    afterKeyword([, location]: RuleNode, instance, context, valid, schemaContext, keyword) {
      if (valid) {
        return;
      }
      if (!OPAQUE.test(location)) {
        add(schemaContext, context.broken ?? []);
      }
      // others only apply schemas, whose own rules are collected
      if (keyword.simpleApplicator !== true) {
        add(schemaContext, [{ location, instance }]);
      }
    },
    afterSchema(url, instance, context, valid) {
      if (!valid && context.ast[url] === false) {
        add(context, [{ location: url, instance }]);
      }
      broken = context.broken ?? [];
    },
  };
}

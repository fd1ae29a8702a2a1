import type { FastifyInstance, FastifySerializerCompiler } from "fastify";
import fastJsonStringify, { type Schema, type Options } from "fast-json-stringify";

/**
 * Makes the serializers of all answers: they write the declared fields and no others. Each is compiled
 * when the first such answer is sent: to compile all of them takes longer than the rest of a start.
 */
export function createSerializerCompiler(app: FastifyInstance): FastifySerializerCompiler<Schema> {
  // Fastify knows no more of a schema than that it was added
  const named = (): Options["schema"] => app.getSchemas() as Record<string, Schema>;
  return ({ schema }) => {
    let serialize: ((value: unknown) => string) | null = null;
    return (value) => {
      serialize ??= fastJsonStringify(schema, { schema: named() });
      return serialize(value);
    };
  };
}

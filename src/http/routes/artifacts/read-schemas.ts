import type { WorkerPool } from "../../../artifacts/project/worker-pool.ts";
import type { SchemaRegistry } from "../../../artifacts/registry.ts";
import type { Schemas } from "./artifact-text.ts";

interface SchemaOptions {
  /** A folder whose `.reprise/schemas/` are known too. */
  readonly project?: string | undefined;
  readonly schemaCheckMs?: number | undefined;
}

/** Reads the schemas at the first call. No validator is loaded before. */
export function createSchemas({ project, schemaCheckMs }: SchemaOptions) {
  let pool: WorkerPool | undefined;
  let reading: Promise<SchemaRegistry> | undefined;
  const read = async (): Promise<SchemaRegistry> => {
    const [{ loadSchemas }, { createWorkerPool }] = await Promise.all([
      import("../../../artifacts/registry.ts"),
      import("../../../artifacts/project/worker-pool.ts"),
    ]);
    return loadSchemas(project ?? null, (pool ??= createWorkerPool({ checkMs: schemaCheckMs })));
  };
  const schemas: Schemas = async () => {
    const known = await reading;
    if (known?.isSound() === true) {
      return known;
    }
    const next = read();
    reading = next;
    next.catch(() => {
      reading = undefined;
    });
    return next;
  };
  return { schemas, close: async () => pool?.close() };
}

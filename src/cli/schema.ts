import { Command } from "commander";
import { builtInSchemas, createSchemaRegistry } from "../artifacts/registry.ts";
import type { SchemaEntry } from "../artifacts/registry.ts";
import { printLine } from "./context.ts";
import type { CliContext } from "./context.ts";

/**
 * `schema <id>`: prints the JSON Schema of an artifact byte for byte, as its file holds it;
 * without an id, the ids that are known. An id that is unknown, or known but unpublished, is
 * refused with `schema_unknown`.
 */
export function schemaCommand(cli: CliContext): Command {
  return new Command("schema")
    .description("print the JSON Schema of an artifact, or the known ids")
    .argument("[id]", "id of the schema, like dev/phase-plan@1")
    .action(async (id: string | undefined) => {
      const registry = createSchemaRegistry(builtInSchemas());
      if (id === undefined) for (const entry of registry.entries) printLine(cli, entryLine(entry));
      else cli.stdout.write(await registry.read(id));
    });
}

function entryLine({ id, file }: SchemaEntry): string {
  return file === null ? `${id} (known by id only, no schema was published)` : id;
}

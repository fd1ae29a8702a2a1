import { Command } from "commander";

import { loadSchemas } from "../artifacts/registry.ts";
import type { SchemaEntry, SchemaRegistry } from "../artifacts/registry.ts";
import { printJson, printLine } from "./context.ts";
import type { CliContext } from "./context.ts";

/**
 * `schema list`: the known ids, the project's (`.reprise/schemas/`) among them; `schema show <id>`
 * or `schema <id>`: the JSON Schema of an artifact byte for byte, as its file holds it. An id that
 * is unknown, or known but unpublished, is refused with `schema_unknown`, a project's schema that
 * is none with `schema_invalid`.
 */
export function schemaCommand(cli: CliContext): Command {
  const schema = new Command("schema")
    .description("list the artifacts' JSON Schemas, or print one")
    .argument("[id]", "id of the schema, like dev/phase-plan@1")
    .action(async (id: string | undefined) => {
      if (id === undefined) await list(cli, {});
      else await show(cli, id);
    });
  schema
    .command("list")
    .description("list the known ids")
    .option("--json", "print a JSON array of id, title, published and source")
    .action((options: { json?: true }) => list(cli, options));
  schema
    .command("show")
    .description("print the schema with this id")
    .argument("<id>", "like dev/phase-plan@1")
    .action((id: string) => show(cli, id));
  return schema;
}

async function list(cli: CliContext, { json }: { json?: true }): Promise<void> {
  const { entries } = await loadChecked(cli);
  if (json === true) printJson(cli, entries);
  else for (const entry of entries) printLine(cli, entryLine(entry));
}

async function show(cli: CliContext, id: string): Promise<void> {
  const registry = await loadChecked(cli);
  cli.stdout.printJson(registry.read(id));
}

/** Those that come with Reprise are tested; what a project brings is looked at first. */
async function loadChecked(cli: CliContext): Promise<SchemaRegistry> {
  const registry = await loadSchemas(cli.cwd);
  const own = registry.entries.find(({ source }) => source === "project");
  if (own !== undefined) await registry.compiled(own.id);
  return registry;
}

function entryLine({ id, published, source }: SchemaEntry): string {
  if (!published) return `${id} (known by id only, no schema was published)`;
  return source === "project" ? `${id} (of this project)` : id;
}

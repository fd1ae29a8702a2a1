import { Command } from "commander";

import type { FileReport } from "./plan/findings.ts";
import { listedSchemas, type ListedSchema } from "../../artifacts/listed-schemas.ts";
import { addList } from "../output/add-list.ts";
import { printJson, printLines, type CliContext } from "../process/context.ts";
import { loadFolderSchemas, readArtifact, refuseTwice } from "./plan/checks.ts";

/**
 * `schema list`: the known ids, those of the folder (`.reprise/schemas/`) among them, a broken one
 * with its error. `schema show <id>` or `schema <id>`: the JSON Schema of an artifact byte for byte,
 * as its file holds it. `schema validate <file…> --schema <id>`: every finding of artifacts. An id
 * that is unknown, or known but unpublished, is refused with `schema_unknown`.
 */
export function schemaCommand(cli: CliContext): Command {
  const schema = new Command("schema")
    .description("list the artifacts' JSON Schemas, print one, or check files against one")
    .argument("[id]", "the schema's id, such as dev/phase-plan@1")
    .action((id: string | undefined) => (id === undefined ? list(cli, {}) : show(cli, id)));
  addList(schema, {
    list: "list the known ids",
    json: "print a JSON array of id, title, published and source",
  }).action((options: { json?: true }) => list(cli, options));
  schema
    .command("show")
    .description("print the schema with this id")
    .argument("<id>", "the schema's id, such as dev/phase-plan@1")
    .action((id: string) => show(cli, id));
  schema
    .command("validate")
    .description("check artifacts (JSON or YAML) against a schema")
    .argument("<file...>", "files to check; - for standard input")
    .requiredOption("--schema <id>", "the schema's id, such as dev/spec@1")
    .option("--json", "print one JSON document, for programs")
    .action((files: string[], options: ValidateOptions) => validate(cli, files, options));
  return schema;
}

async function list(cli: CliContext, { json }: { json?: true }): Promise<void> {
  const entries = await listedSchemas(await loadFolderSchemas(cli));
  if (json === true) {
    printJson(cli, entries);
  } else {
    printLines(cli, entries.map(entryLine));
  }
}

async function show(cli: CliContext, id: string): Promise<void> {
  cli.stdout.printJson((await loadFolderSchemas(cli)).read(id));
}

function entryLine({ id, published, source, error }: ListedSchema): string {
  if (error !== undefined) {
    return `${id ?? "(no id)"} (broken: ${error})`;
  }
  if (!published) {
    return `${id} (known by id only, no schema was published)`;
  }
  return source === "project" ? `${id} (of this project)` : String(id);
}

interface ValidateOptions {
  readonly schema: string;
  readonly json?: true;
}

async function validate(
  cli: CliContext,
  files: readonly string[],
  { schema: id, json }: ValidateOptions,
): Promise<void> {
  refuseTwice(files);
  const [{ validateWith }, { toReport }, { findingLines }, registry] = await Promise.all([
    import("../../artifacts/check-artifact.ts"),
    import("../../artifacts/finding.ts"),
    import("./plan/findings.ts"),
    loadFolderSchemas(cli),
  ]);
  const reports: FileReport[] = [];
  for (const file of files) {
    const artifact = await readArtifact(cli, file);
    const report =
      "code" in artifact ? toReport([artifact]) : await validateWith(artifact, { id, registry });
    reports.push({ file, ...report });
  }
  const valid = reports.every((report) => report.valid);
  cli.exitCode = valid ? 0 : 1;
  if (json === true) {
    printJson(cli, { schema: id, valid, files: reports }, 2);
  } else {
    printLines(cli, reports.flatMap(findingLines));
  }
}

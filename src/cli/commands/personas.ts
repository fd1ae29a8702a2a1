import { Command } from "commander";

import {
  type BrokenPersona,
  DEFAULT_PERSONA,
  isBroken,
  type Persona,
} from "../../rules/personas/persona.ts";
import type { PersonaSurvey } from "../../rules/personas/list.ts";
import { serverLine } from "../../rules/servers/consent.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { checkPersona } from "../../rules/personas/preflight.ts";
import { addList } from "../output/add-list.ts";
import { personaFolderPaths } from "../process/config.ts";
import { type CliContext, note, printJson, printLine } from "../process/context.ts";

/** `personas list|show`: who can answer in this folder, and what was left out of their files. */
export function personasCommand(cli: CliContext): Command {
  const personas = new Command("personas").description(
    "list the personas of this folder, or show one",
  );
  addList(personas, {
    list: "list the personas to choose from, and files that cannot be used",
    json: "print a JSON array",
  }).action((options: { json?: true }) => list(cli, options));
  personas
    .command("show")
    .description("show a persona with its tools, its notes and its prompt")
    .argument("[name]", "its name", DEFAULT_PERSONA)
    .option("--json", "print one JSON document")
    .action((name: string, options: { json?: true }) => show(cli, name, options));
  return personas;
}

async function list(cli: CliContext, { json }: { json?: true }): Promise<void> {
  const { surveyPersonas } = await import("../../rules/personas/list.ts");
  const survey = await surveyPersonas({ ...personaFolderPaths(cli), repoPath: cli.cwd });
  if (json === true) {
    printJson(
      cli,
      survey.entries.map((entry) => (isBroken(entry) ? entry : document(entry))),
    );
  } else {
    await printEntries(cli, survey);
  }
  for (const { path } of survey.withheld) {
    note(cli, `${oneLine(path)} is not used, because the folder is not trusted.`);
  }
}

async function printEntries(cli: CliContext, survey: PersonaSurvey): Promise<void> {
  const { entries } = survey;
  const terminal = cli.stdout.terminal();
  if (terminal !== null) {
    const [{ personaRows }, { themeOf }] = await Promise.all([
      import("../terminal/picker/persona-table.ts"),
      import("../terminal/text/theme-of.ts"),
    ]);
    const view = { width: terminal.size().columns, theme: await themeOf(cli), about };
    cli.stdout.printRows(await personaRows(survey, view));
    return;
  }
  const width = Math.max(...entries.map(({ name }) => name.length));
  for (const entry of entries) {
    printLine(
      cli,
      `${oneLine(entry.name).padEnd(width)}  ${entry.source.padEnd(10)}  ${about(entry)}`,
    );
    for (const note of isBroken(entry) ? [] : entry.notes) {
      printLine(cli, `${"".padEnd(width)}  note: ${oneLine(note)}`);
    }
  }
}

function about(entry: Persona | BrokenPersona): string {
  return oneLine(isBroken(entry) ? `cannot be used: ${entry.fault}` : entry.description);
}

/** Error codes: `persona_not_found`, `persona_invalid`, `folder_not_trusted`. */
async function show(cli: CliContext, name: string, { json }: { json?: true }): Promise<void> {
  const persona = await checkPersona(personaFolderPaths(cli), { name, repo_path: cli.cwd });
  if (json === true) {
    printJson(cli, { ...document(persona), prompt: persona.prompt });
    return;
  }
  for (const [label, text] of [
    ["name", persona.name],
    ["from", `${persona.source}, ${persona.path}`],
    ["description", persona.description],
    ["model", persona.model ?? "the session's"],
    ["tools", toolsOf(persona)],
    ...Object.entries(persona.servers).map(([server, entry]): [string, string] => [
      "server",
      // arguments of the user's own may be secret
      persona.source === "repository" ? serverLine(server, entry) : server,
    ]),
    ...persona.notes.map((note): [string, string] => ["note", note]),
  ] as const) {
    printLine(cli, `${label.padEnd(13)}${oneLine(text)}`);
  }
  printLine(cli, `\n${persona.prompt}`);
}

function toolsOf({ tools }: Persona): string {
  if (tools === null) {
    return "all";
  }
  return tools.length === 0 ? "none" : tools.join(", ");
}

/** Returns what programs read of a persona; the prompt is left to `show`. */
/** Names its servers alone: their variables and headers may be secret. */
function document(persona: Persona) {
  const { prompt: _, servers, ...rest } = persona;
  return { ...rest, servers: Object.keys(servers) };
}

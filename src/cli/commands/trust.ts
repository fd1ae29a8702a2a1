import { resolve } from "node:path";

import { Command } from "commander";

import { addList } from "../output/add-list.ts";
import { personaFolderPaths, trustSource } from "../process/config.ts";
import { type CliContext, noticeLine, printJson, printLine } from "../process/context.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { refuseNoFolder } from "./refuse-no-folder.ts";

/** `trust list|add|remove`: the folders whose personas and `AGENTS.md` conversations may use. */
export function trustCommand(cli: CliContext): Command {
  const trust = new Command("trust").description(
    "list, add or remove folders whose personas and AGENTS.md are used",
  );
  const onFolder = (name: string, description: string) =>
    trust.command(name).description(description).argument("[folder]", "the folder", ".");
  addList(trust, {
    list: "list the stored decisions",
    json: "print a JSON array of path, trusted and at",
  }).action((options: { json?: true }) => list(cli, options));
  onFolder("add", "trust the project that a folder belongs to").action((folder: string) =>
    add(cli, folder),
  );
  onFolder("remove", "forget the decision about a project; the next session asks again").action(
    (folder: string) => remove(cli, folder),
  );
  return trust;
}

async function list(cli: CliContext, { json }: { json?: true }): Promise<void> {
  const { listDecisions } = await import("../../rules/trust/trust.ts");
  const decisions = await listDecisions(trustSource(cli));
  const sorted = decisions.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  if (json === true) {
    const shown = sorted.map(({ path, trusted, at }) => ({ path, trusted, at }));
    printJson(cli, shown);
    return;
  }
  for (const { path, trusted } of sorted) {
    printLine(cli, `${trusted ? "trusted" : "refused"}  ${oneLine(path)}`);
  }
  if (sorted.length === 0) {
    noticeLine(cli, "No decisions are stored. To trust a folder, run `reprise trust add` in it.");
  }
}

async function add(cli: CliContext, folder: string): Promise<void> {
  const path = resolve(cli.cwd, folder);
  await refuseNoFolder(path, "The folder");
  const [{ isSeen, keepAnswer }, startable, { surveyPersonas }] = await Promise.all([
    import("../../rules/trust/trust.ts"),
    import("../../rules/trust/startables.ts"),
    import("../../rules/personas/list.ts"),
  ]);
  const folders = personaFolderPaths(cli);
  const asTrusted = { ...folders, trust: { ...folders.trust, forThisRun: "all" as const } };
  const personas = await surveyPersonas({ ...asTrusted, repoPath: path });
  const all = await startable.startablesOf(path, personas.entries);
  const known = await Promise.all(all.map(({ digest }) => isSeen(folders.trust, path, digest)));
  // what was not shown before comes first: a call may not show all of it
  const inOrder = [...all.filter((_, at) => !known[at]), ...all.filter((_, at) => known[at])];
  const { shown } = startable.firstShown(inOrder);
  const seen = shown.map(({ digest }) => digest);
  const top = await keepAnswer(trustSource(cli), path, { trusted: true, seen });
  printLine(cli, `trusted  ${oneLine(top)}`);
  for (const { kind, lines } of shown) {
    for (const line of lines) {
      printLine(cli, `${kind === "hook" ? "hook  " : "server"}   ${oneLine(line)}`);
    }
  }
  const unseen = known.filter((isKnown) => !isKnown).length;
  const left = startable.leftSentence(Math.max(0, unseen - shown.length));
  if (left !== null) {
    noticeLine(cli, left);
  }
}

async function remove(cli: CliContext, folder: string): Promise<void> {
  const { forgetAnswer } = await import("../../rules/trust/trust.ts");
  const path = await forgetAnswer(trustSource(cli), resolve(cli.cwd, folder));
  printLine(cli, `removed  ${oneLine(path)}`);
}

import { resolve } from "node:path";

import { Command } from "commander";

import { oneLine } from "../../core/text/terminal-text.ts";
import { aligned } from "../output/aligned.ts";
import { configPlace, settingsOf } from "../process/config.ts";
import { type CliContext, printJson, printLine, printLines } from "../process/context.ts";
import { refuseNoFolder } from "./refuse-no-folder.ts";

/** `config get|set|path|check`: the user's `config.jsonc`. */
export function configCommand(cli: CliContext): Command {
  const config = new Command("config").description(
    "show and change the settings in your config.jsonc",
  );
  config
    .command("get")
    .description("show the values that count in this folder, and where each comes from")
    .argument("[key]", "such as model or limits.model_calls; all without it")
    .option("--json", "print a JSON array of key, value and from")
    .action((key: string | undefined, options: { json?: true }) => get(cli, key, options));
  config
    .command("set")
    .description("change a value; comments in the file stay")
    .argument("<key>", "as `config get` shows it")
    .argument("<value>", "a text or JSON, such as '[\"write_file(docs/**)\"]'; null removes it")
    .option("--folder <path>", "for sessions in this folder and those below it")
    .action(async (key: string, text: string, options: { folder?: string }) => {
      const folder = options.folder === undefined ? undefined : await folderOf(cli, options.folder);
      const { setValue } = await import("../../rules/config/set-value.ts");
      await setValue(configPlace(cli), { key, text, folder });
      printLine(cli, `${text === "null" ? "removed" : "set"}  ${key}`);
    });
  config
    .command("path")
    .description("print the path of the file, which need not be there")
    .action(() => printLine(cli, configPlace(cli).file));
  config
    .command("check")
    .description("check the file; each problem is shown with its line and column")
    .action(async () => {
      const { file } = configPlace(cli);
      const found = await settingsOf(cli).config();
      printLine(cli, found === null ? "There is no config." : `ok  ${oneLine(file)}`);
    });
  return config;
}

async function get(
  cli: CliContext,
  key: string | undefined,
  { json }: { json?: true },
): Promise<void> {
  const [{ settingOrigins }, { requireKey }] = await Promise.all([
    import("../../rules/config/origins.ts"),
    import("../../rules/config/set-value.ts"),
  ]);
  const wanted = key === undefined ? null : requireKey(key);
  const settings = settingsOf(cli);
  const all = settingOrigins(await settings.at(cli.cwd), cli.env, await settings.config());
  const shown = all.filter((each) => wanted === null || each.key === wanted);
  if (json === true) {
    printJson(cli, shown);
  } else {
    const rows = shown.map((each) => [each.key, shownValue(each.value), oneLine(each.from)]);
    printLines(cli, aligned(rows));
  }
}

/** Line for a person. */
export function shownValue(value: unknown): string {
  return oneLine(typeof value === "string" ? value : value === null ? "-" : JSON.stringify(value));
}

async function folderOf(cli: CliContext, named: string): Promise<string> {
  const folder = resolve(cli.cwd, named);
  await refuseNoFolder(folder, "The folder of --folder");
  return folder;
}

import { oneLine } from "../../../core/text/terminal-text.ts";
import { isSecretName } from "../../../core/secrets.ts";
import { configPlace, trustSource } from "../../process/config.ts";
import { type CliContext, note, printLine } from "../../process/context.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { noSuchServer } from "./configured.ts";

export interface ProjectOption {
  readonly project?: true;
}

export interface AddOptions extends ProjectOption {
  readonly url?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly header?: Readonly<Record<string, string>>;
}

/** Adds a server to the user's config, or to the file of the folder. Error codes: `invalid_usage`, `config_invalid`. */
export async function addServer(
  cli: CliContext,
  given: { readonly name: string; readonly command: string[]; readonly options: AddOptions },
): Promise<void> {
  const { name, options } = given;
  const [command, ...args] = given.command;
  const { url, env, header, project } = options;
  if ((command === undefined) === (url === undefined)) {
    throw wrongUsage("Give the program after --, or an address with --url.");
  }
  const value = {
    ...(project === true && url !== undefined ? { type: "http" } : {}),
    ...(command === undefined ? {} : { command }),
    ...(args.length === 0 ? {} : { args }),
    ...(env === undefined ? {} : { env }),
    ...(url === undefined ? {} : { url }),
    ...(header === undefined ? {} : { headers: header }),
  };
  if (project === true) {
    await changeProject(cli, name, value);
    printLine(cli, `added  ${oneLine(name)}`);
    noteSecrets(cli, { ...env, ...header });
    note(
      cli,
      "It is in .mcp.json. It is used once you have seen the servers of that file: `reprise trust add`.",
    );
    return;
  }
  const { changeConfig } = await import("../../../rules/config/write-config.ts");
  await changeConfig(configPlace(cli), async (config) => {
    if (config !== null && Object.hasOwn(config.mcp, name)) {
      throw wrongUsage("There is a server of this name. Remove it first, or choose another name.");
    }
    return [{ path: ["mcp", name], value }];
  });
  printLine(cli, `added  ${oneLine(name)}`);
}

/** Error codes: `invalid_usage`, `config_invalid`. */
export async function removeServer(
  cli: CliContext,
  name: string,
  { project }: ProjectOption,
): Promise<void> {
  if (project === true) {
    await changeProject(cli, name, null);
  } else {
    const { changeConfig } = await import("../../../rules/config/write-config.ts");
    await changeConfig(configPlace(cli), async (config) => {
      if (config === null || !Object.hasOwn(config.mcp, name)) {
        throw noSuchServer(Object.keys(config?.mcp ?? {}));
      }
      return [{ path: ["mcp", name], value: undefined }];
    });
  }
  printLine(cli, `removed  ${oneLine(name)}`);
}

async function changeProject(
  cli: CliContext,
  name: string,
  server: Readonly<Record<string, unknown>> | null,
): Promise<void> {
  const [{ changeMcpFile }, { workFolder }] = await Promise.all([
    import("../../../rules/servers/change-mcp-file.ts"),
    import("../../../rules/trust/wide-folder.ts"),
  ]);
  const { path: folder } = await workFolder(cli.cwd, trustSource(cli));
  if (folder === null) {
    throw wrongUsage(
      "The agent gets no files of this folder, and none of its servers. Go to the folder of a project.",
    );
  }
  await changeMcpFile({ folder, lock: configPlace(cli).file, name, server });
}

/** Others get the file. */
function noteSecrets(cli: CliContext, values: Readonly<Record<string, string>>): void {
  const names = Object.keys(values).filter(
    (name) => isSecretName(name) && !/\$\{/.test(values[name] ?? ""),
  );
  if (names.length > 0) {
    note(
      cli,
      `The value of ${names.map(oneLine).join(", ")} is in that file, which others may read. Write a variable instead: \${NAME}.`,
    );
  }
}

import { closeSync, openSync, readSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import type { Settings } from "../../rules/config/settings.ts";
import type { ConfigPlace } from "../../rules/config/write-config.ts";
import type { ExchangerConfig } from "../../exchange/exchanger.ts";
import type { PersonaFolders } from "../../rules/personas/folders.ts";
import type { SandboxProbe, SandboxSource } from "../../workspace/sandbox/probe.ts";
import type { TrustSource } from "../../rules/trust/trust.ts";
import { RepriseError } from "../../core/errors.ts";
import { MAX_LINE_FILE_BYTES } from "../../core/limits.ts";
import { packageFile } from "../../core/package-file.ts";
import type { Store } from "../../store/store.ts";
import { isPostgres, requireLocation } from "../../store/location.ts";
import { readPostgresUrl } from "../../store/postgres-url.ts";
import type { CliContext } from "./context.ts";
import { wrongUsage } from "./wrong-usage.ts";

/**
 * Folders of one user, after the XDG Base Directory Specification; null if the environment names
 * no home.
 */
function userFolders(cli: CliContext) {
  return {
    /** Holds the database. */
    data: userFolder(cli, "XDG_DATA_HOME", ".local/share"),
    /** Holds `config.jsonc` and `personas/`. */
    config: userFolder(cli, "XDG_CONFIG_HOME", ".config"),
    /** Holds `trust.json`, `token`, `models.json`, `undo/`, `commands/`, `mcp/`, `history/`, `services/` and `sandbox/`. */
    state: userFolder(cli, "XDG_STATE_HOME", ".local/state"),
  };
}

function userFolder(cli: CliContext, variable: string, fallback: string): string | null {
  const base = cli.env[variable];
  // the specification: a relative path there is to be ignored
  if (base?.startsWith("/")) {
    return join(base, "reprise");
  }
  const home = cli.env["HOME"];
  return home?.startsWith("/") ? join(home, fallback, "reprise") : null;
}

/**
 * The folders of personas besides the repository, and who decides whether those of the repository
 * are used.
 */
export function personaFolderPaths(cli: CliContext): PersonaFolders {
  const { config } = userFolders(cli);
  return {
    userDir: config === null ? null : join(config, "personas"),
    builtinDir: fileURLToPath(packageFile("personas")),
    trust: trustSource(cli),
  };
}

/** Which files of Reprise options and the address of the database name. */
export interface NamedFiles {
  /** As `databaseLocation` returns it. */
  readonly location: string;
  /** Files of the tokens of a service; undefined if none is named. */
  readonly tokenFiles?: readonly (string | undefined)[];
}

/**
 * All files and folders of Reprise that neither tools nor commands of the agent may touch, besides the database and
 * what the config names: its folders, and files with secrets that an option, a variable or an address names.
 */
function ownFiles(cli: CliContext, { location, tokenFiles = [] }: NamedFiles): readonly string[] {
  const { state, ...folders } = userFolders(cli);
  const sslKey = readPostgresUrl(location)?.servers[0].searchParams.get("sslkey");
  const named = [
    ...tokenFiles,
    cli.env["REPRISE_DATABASE_FILE"],
    cli.env["PGPASSFILE"],
    sslKey,
  ].flatMap((file) => (file ? resolve(cli.cwd, file) : []));
  // these may be links out of the folders
  const links = [configFile(cli), trustSource(cli).file];
  return [...Object.values(folders), state, ...links, ...named].filter((path) => path !== null);
}

/** From what the exchanger is made; read after the person has answered about the folder. */
export function exchangerConfig(cli: CliContext, store: Store, files: NamedFiles): ExchangerConfig {
  const personas = personaFolderPaths(cli);
  return {
    store,
    env: cli.env,
    settings: settingsOf(cli),
    personas,
    protectedPaths: ownFiles(cli, files),
    undoFolder: undoFolderPath(cli),
    outputFolder: outputFolderPath(cli),
    mcp: { folder: mcpFolderPath(cli), version: cli.version },
    sandbox: sandboxSource(userFolders(cli).state),
  };
}

function sandboxSource(state: string | null): SandboxSource {
  let probe: Promise<() => Promise<SandboxProbe>> | undefined;
  const open = () =>
    (probe ??= import("../../workspace/sandbox/probe.ts").then(({ createSandboxProbe }) =>
      createSandboxProbe(),
    ));
  return {
    state,
    probe: async () =>
      state === null ? { bubblewrap: null, reason: "HOME is not set" } : (await open())(),
  };
}

/** Keeps the bytes of files that tools changed; null if the environment names no home. */
export function undoFolderPath(cli: CliContext): string | null {
  const { state } = userFolders(cli);
  return state === null ? null : join(state, "undo");
}

/** Keeps the lists of models of providers for an hour; null if the environment names no home. */
export function modelListFile(cli: CliContext): string | null {
  const { state } = userFolders(cli);
  return state === null ? null : join(state, "models.json");
}

/** Keeps outputs of commands; null if the environment names no home. */
export function outputFolderPath(cli: CliContext): string | null {
  const { state } = userFolders(cli);
  return state === null ? null : join(state, "commands");
}

/** Keeps the addresses of pages of running services; null if the environment names no home. */
export function servicesFolderPath(cli: CliContext): string | null {
  const { state } = userFolders(cli);
  return state === null ? null : join(state, "services");
}

/** Keeps lists of tools and logs of MCP servers; null if the environment names no home. */
export function mcpFolderPath(cli: CliContext): string | null {
  const { state } = userFolders(cli);
  return state === null ? null : join(state, "mcp");
}

/**
 * Keeps what a person wrote in a folder, see `openHistory`; null if the environment names no home. The name is a hash,
 * because a path may be longer than a name.
 */
export async function historyFile(cli: CliContext, folder: string): Promise<string | null> {
  const { state } = userFolders(cli);
  const { createHash } = await import("node:crypto");
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 32);
  return state === null ? null : join(state, "history", `${name}.jsonl`);
}

/** The user's `config.jsonc`, with the environment over it. Opens and loads nothing before it is asked. */
export function settingsOf(cli: CliContext): Settings {
  const source = { env: cli.env, file: configFile(cli), home: homeOf(cli) };
  let opened: Promise<Settings> | null = null;
  const open = () =>
    (opened ??= import("../../rules/config/settings.ts").then(({ createSettings }) =>
      createSettings(source),
    ));
  return {
    at: async (folder) => (await open()).at(folder),
    config: async () => (await open()).config(),
  };
}

/** The path of the user's config file, which need not be there; null if the environment names no place for it. */
export function configFile(cli: CliContext): string | null {
  const { config } = userFolders(cli);
  return config === null ? null : join(config, "config.jsonc");
}

/** Error codes: `config_invalid` if the environment names no place for it. */
export function configPlace(cli: CliContext): ConfigPlace {
  const file = configFile(cli);
  if (file === null) {
    throw new RepriseError(
      "config_invalid",
      "Reprise does not know where your config is, because HOME is not set; set HOME or XDG_CONFIG_HOME to an absolute path.",
    );
  }
  return { file, home: homeOf(cli) };
}

/** For paths that begin with `~/`. */
function homeOf({ env }: CliContext): string {
  const home = env["HOME"];
  return home?.startsWith("/") === true ? home : homedir();
}

/** The token that a service makes if it is given none; null if the environment names no home. */
export function madeTokenFile(cli: CliContext): string | null {
  const { state } = userFolders(cli);
  return state === null ? null : join(state, "token");
}

/** The user's decisions on folders: those that are kept, and those of this command line. */
export function trustSource(cli: CliContext): TrustSource {
  const { state } = userFolders(cli);
  return {
    file: state === null ? null : join(state, "trust.json"),
    home: homeOf(cli),
    ...cli.consent,
  };
}

/**
 * The database that a command is to use: `--database`, else `REPRISE_DATABASE`, else the content
 * of the file that `REPRISE_DATABASE_FILE` names, else the user's own.
 *
 * Error codes: `invalid_usage`; `config_invalid` if the environment names no home either.
 */
export function databaseLocation(cli: CliContext, option: string | undefined): string {
  const named = option?.trim() ?? (cli.env["REPRISE_DATABASE"]?.trim() || locationInFile(cli));
  if (option !== undefined && named === "") {
    throw wrongUsage("--database needs a file or a postgres:// address.");
  }
  if (named === undefined || named === "") {
    const { data } = userFolders(cli);
    if (data === null) {
      throw new RepriseError(
        "config_invalid",
        "Reprise does not know where to keep its files, because HOME is not set; set HOME or XDG_DATA_HOME to an absolute path, or name a file with --database.",
      );
    }
    return join(data, "reprise.db");
  }
  return resolveLocation(cli, named);
}

/**
 * A postgres:// address, or the full path of a file, without the white space around it.
 *
 * Error codes: `config_invalid` for `:memory:` and an address of another kind.
 */
export function resolveLocation(cli: CliContext, named: string): string {
  const location = requireLocation(named.trim());
  if (isPostgres(location)) {
    return location;
  }
  return resolve(cli.cwd, location);
}

/** For secrets that a platform gives as files: the environment of a process is easily shown. */
function locationInFile(cli: CliContext): string | undefined {
  const file = cli.env["REPRISE_DATABASE_FILE"] ?? "";
  if (file === "") {
    return undefined;
  }
  const location = readTextFile(resolve(cli.cwd, file)).trim();
  if (location === "" || location.includes("\n")) {
    throw new RepriseError(
      "config_invalid",
      "The file that REPRISE_DATABASE_FILE names must hold one line: a file or a postgres:// address.",
    );
  }
  return location;
}

function readTextFile(path: string): string {
  try {
    const bytes = readLimitedSync(path, MAX_LINE_FILE_BYTES);
    if (bytes !== null) {
      return bytes.toString("utf8");
    }
  } catch (cause) {
    throw new RepriseError(
      "config_invalid",
      "The file that REPRISE_DATABASE_FILE names cannot be read; check its path and its rights.",
      { cause },
    );
  }
  throw new RepriseError(
    "config_invalid",
    "The file that REPRISE_DATABASE_FILE names is larger than 64 KiB; name one with an address.",
  );
}

/** Null for more than `max` bytes, of which no more is read: a device may have no end. */
function readLimitedSync(path: string, max: number): Buffer | null {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(max + 1);
    let size = 0;
    for (let read = -1; read !== 0 && size < bytes.length; size += read) {
      read = readSync(file, bytes, size, bytes.length - size, null);
    }
    return size > max ? null : bytes.subarray(0, size);
  } finally {
    closeSync(file);
  }
}

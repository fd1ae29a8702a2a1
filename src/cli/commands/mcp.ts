import { Command } from "commander";

import { createConceal, type Secret } from "../../core/secrets.ts";
import { oneLine, visible } from "../../core/text/terminal-text.ts";
import { plural } from "../../core/text/text.ts";
import type { Server } from "../../mcp/configured-servers.ts";
import type { McpEntry, McpPlace } from "../../rules/servers/server.ts";
import { addList } from "../output/add-list.ts";
import { aligned } from "../output/aligned.ts";
import { mcpFolderPath } from "../process/config.ts";
import { type CliContext, note, printJson, printLine, printLines } from "../process/context.ts";
import { wrongUsage } from "../process/wrong-usage.ts";
import {
  type AddOptions,
  addServer,
  type ProjectOption,
  removeServer,
} from "./mcp/change-servers.ts";
import { configured, noSuchServer } from "./mcp/configured.ts";
import { logIn, type LogInOptions, logOut } from "./mcp/login.ts";
import { mcpServeCommand } from "./serve/mcp-serve.ts";

/** `mcp list|add|remove|check|login|logout|logs`: the MCP servers of the user's config. */
export function mcpCommand(cli: CliContext): Command {
  const mcp = new Command("mcp").description("list, add, remove and check MCP servers");
  withPersona(
    addList(mcp, {
      list: "list the servers of this folder; none is started",
      json: "print a JSON array",
    }),
  ).action((options: ListOptions) => list(cli, options));
  mcp
    .command("add")
    .description("add a server to your config: a program, or an address with --url")
    .argument("<name>", "its tools are <name>__<tool>")
    .argument("[command...]", "the program and its arguments, after --")
    .option("--url <address>", "the address of a server that is spoken with over HTTP")
    .option("--env <NAME=value>", "a variable of the program; ${NAME} is one of yours", pairs("="))
    .option("--header <Name:value>", "a header of each request, as --env", pairs(":"))
    .option("--project", "to .mcp.json of this folder, for everybody who works in it")
    .action((name: string, command: string[], options: AddOptions) =>
      addServer(cli, { name, command, options }),
    );
  mcp
    .command("remove")
    .description("remove a server from your config")
    .argument("<name>", "as `mcp list` shows it")
    .option("--project", "from .mcp.json of this folder")
    .action((name: string, options: ProjectOption) => removeServer(cli, name, options));
  withPersona(
    mcp
      .command("check")
      .description("connect to the servers of this folder and list their tools")
      .argument("[name]", "one of them; all without it")
      .option("--json", "print a JSON array"),
  ).action((name: string | undefined, options: ListOptions) => check(cli, name, options));
  withPersona(
    mcp
      .command("logs")
      .description("print what a server has written to its standard error")
      .argument("<name>", "as `mcp list` shows it")
      .option("--json", "print a JSON object with the lines"),
  ).action((name: string, options: ListOptions) => logs(cli, name, options));
  withPersona(
    mcp
      .command("login")
      .description("log in at a server that needs it, in a browser")
      .argument("<name>", "as `mcp list` shows it")
      .option("--open", "open the browser; without it, the address is only printed"),
  ).action((name: string, options: LogInOptions) => logIn(cli, name, options));
  mcp
    .command("logout")
    .description("forget the login at a server, and revoke its tokens")
    .argument("<name>", "the server")
    .action((name: string) => logOut(cli, name));
  mcp.addCommand(mcpServeCommand(cli));
  return mcp;
}

function withPersona(command: Command): Command {
  return command.option("--persona <name>", "with the servers that this persona has besides");
}

interface PersonaOption {
  readonly persona?: string;
}

interface ListOptions extends PersonaOption {
  readonly json?: true;
}

/** Reads an option that may be given several times. Error codes: `invalid_usage`. */
function pairs(separator: string) {
  return (text: string, before: Readonly<Record<string, string>> = {}) => {
    const at = text.indexOf(separator);
    if (at < 1) {
      throw wrongUsage(`Write a name, ${separator} and a value.`);
    }
    return { ...before, [text.slice(0, at)]: text.slice(at + 1).trim() };
  };
}

/** Error codes: `config_invalid`. */
async function list(cli: CliContext, { json, persona }: ListOptions): Promise<void> {
  const { here, servers, unusable, problems } = await configured(cli, persona);
  const [{ readKeptTools }, { heldSentence }, { Logins, loginPlace }] = await Promise.all([
    import("../../mcp/kept-lists.ts"),
    import("../../rules/servers/servers-here.ts"),
    import("../../mcp/oauth/logins.ts"),
  ]);
  const folder = mcpFolderPath(cli);
  const loginOf = async (server: Server | undefined): Promise<ListedLogin> => {
    const place = server === undefined ? null : loginPlace(server);
    const login = place === null || folder === null ? null : await new Logins(folder).read(place);
    return login === null ? null : login.wanted === undefined ? "kept" : "needs_more_rights";
  };
  const rowOf = (name: string, { place, isEnabled, from }: McpEntry) => ({
    name,
    enabled: isEnabled && place !== null,
    place: place === null ? null : shownPlace(place),
    from,
  });
  const used = await Promise.all(
    Object.entries(here.entries).map(async ([name, entry]) => {
      const server = servers.find((each) => each.name === name);
      const tools = server === undefined ? [] : await readKeptTools(folder, server);
      return {
        ...rowOf(name, entry),
        tools: tools.map((tool) => tool.fullName),
        login: await loginOf(server),
        problem: unusable.find((each) => each.name === name)?.problem ?? null,
      };
    }),
  );
  const held = here.held.map((each) => ({
    ...rowOf(each.name, each.entry),
    tools: [],
    login: null,
    problem: heldSentence(each),
  }));
  const rows = [...used, ...held];
  if (json === true) {
    printJson(cli, rows);
    return;
  }
  printLines(
    cli,
    aligned(
      rows.map(({ name, enabled, place, from, tools, login, problem }) => [
        oneLine(name),
        enabled ? (problem === null ? "on" : "cannot be used") : "off",
        oneLine(place ?? "-"),
        oneLine(from),
        tools.length === 0 ? "" : plural(tools.length, "tool"),
        login === null ? "" : LOGIN_WORDS[login],
      ]),
    ),
  );
  rows
    .filter(({ login }) => login === "needs_more_rights")
    .forEach(({ name }) =>
      note(
        cli,
        `The MCP server ${oneLine(name)} needs a login with more rights: \`reprise mcp login ${oneLine(name)}\`.`,
      ),
    );
  const sentences = rows.flatMap(({ problem }) => problem ?? []);
  new Set([...sentences, ...problems]).forEach((problem) => note(cli, problem));
  if (rows.length === 0) {
    note(cli, "There is no MCP server. Add one with `reprise mcp add <name> -- <command>`.");
  }
}

/** Whether a login is kept for a server; null for none, and for a server that takes none. */
type ListedLogin = "kept" | "needs_more_rights" | null;

const LOGIN_WORDS = { kept: "logged in", needs_more_rights: "needs more rights" } as const;

/** Without arguments, user and query, which may hold secrets. */
function shownPlace(place: McpPlace): string {
  if (place.kind === "program") {
    return place.command;
  }
  const url = URL.parse(place.url);
  return url === null ? "(an address with variables)" : url.origin;
}

/** Error codes: `invalid_usage`, `config_invalid`. */
async function check(
  cli: CliContext,
  name: string | undefined,
  { json, persona }: ListOptions,
): Promise<void> {
  const found = await configured(cli, persona);
  const isMeant = (each: { readonly name: string }) => name === undefined || each.name === name;
  const [servers, unusable] = [found.servers.filter(isMeant), found.unusable.filter(isMeant)];
  if (name !== undefined && servers.length === 0 && unusable.length === 0) {
    throw noSuchServer(found.servers.map((each) => each.name));
  }
  const checked = [
    ...unusable.map((each) => ({ name: each.name, ...failed(each.problem) })),
    ...(await checkAll(cli, servers)),
  ];
  if (json === true) {
    printJson(cli, checked);
  } else {
    for (const { name: shown, ok, protocol, tools, problems } of checked) {
      const about = `${plural(tools.length, "tool")}, protocol ${protocol ?? ""}`;
      printLine(cli, `${oneLine(shown)}  ${ok ? about : "cannot be used"}`);
      printLines(
        cli,
        tools.map((tool) => `  ${tool.name}  ${oneLine(tool.description).slice(0, MAX_ABOUT)}`),
      );
      problems.forEach((problem) => note(cli, oneLine(problem)));
    }
  }
  if (checked.some(({ ok }) => !ok)) {
    cli.exitCode = 1;
  }
}

/** Time for the lists that completion needs: a server may not answer. */
const OFFERS_MS = 5000;

/** Characters of a description. */
const MAX_ABOUT = 100;

interface Checked {
  readonly name: string;
  readonly ok: boolean;
  readonly protocol: string | null;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly problems: readonly string[];
}

function failed(problem: string): Omit<Checked, "name"> {
  return { ok: false, protocol: null, tools: [], problems: [problem] };
}

async function checkAll(cli: CliContext, all: readonly Server[]): Promise<readonly Checked[]> {
  const [{ Servers }, { keepTools, learnOffers }, { reasonOf }, { newId }] = await Promise.all([
    import("../../mcp/servers.ts"),
    import("../../mcp/kept-lists.ts"),
    import("../../mcp/reasons.ts"),
    import("../../core/ids.ts"),
  ]);
  const folder = mcpFolderPath(cli);
  const secrets: Secret[] = [];
  const servers = new Servers({
    servers: all,
    unusable: [],
    problems: [],
    env: cli.env,
    folder,
    version: cli.version,
    session_id: newId(),
    cwd: cli.cwd,
    conceal: (text) => text,
    onSecrets: (given) => secrets.push(...given),
  });
  try {
    return await Promise.all(
      all.map(async (server): Promise<Checked> => {
        const { name } = server;
        try {
          const connection = await servers.connection(server);
          const { tools, problems } = await connection.list();
          await keepTools(folder, server, tools);
          const signal = AbortSignal.timeout(OFFERS_MS);
          await learnOffers(folder, server, { connection, signal });
          const listed = tools.map(({ fullName, description }) => ({
            name: fullName,
            description,
          }));
          return { name, ok: true, protocol: connection.protocol, tools: listed, problems };
        } catch (error) {
          const reason = createConceal([...server.secrets, ...secrets])(reasonOf(error));
          return { name, ...failed(`The MCP server ${name} cannot be used: ${reason}.`) };
        }
      }),
    );
  } finally {
    await servers.end();
  }
}

/** Error codes: `invalid_usage`, `config_invalid`. */
async function logs(cli: CliContext, name: string, { json, persona }: ListOptions): Promise<void> {
  const { servers } = await configured(cli, persona);
  const server = servers.find((each) => each.name === name);
  const folder = mcpFolderPath(cli);
  if (server === undefined) {
    throw noSuchServer(servers.map((each) => each.name));
  }
  const { logFile, readLog } = await import("../../mcp/server-log.ts");
  const text = folder === null ? "" : await readLog(logFile(folder, server));
  if (json === true) {
    const lines = text.split("\n");
    printJson(cli, { name, lines: lines.at(-1) === "" ? lines.slice(0, -1) : lines });
  } else if (text === "") {
    note(cli, "The server has written nothing to its standard error.");
  } else {
    cli.stdout.print(visible(text));
  }
}

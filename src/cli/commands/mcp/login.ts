import { createInterface, type Interface } from "node:readline";

import { oneLine } from "../../../core/text/terminal-text.ts";
import type { Login } from "../../../mcp/oauth/logins.ts";
import { mcpFolderPath } from "../../process/config.ts";
import { type CliContext, note, noticeLine, printLine } from "../../process/context.ts";
import { onSignals } from "../../process/signals.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { configured, noSuchServer } from "./configured.ts";

export interface LogInOptions {
  readonly persona?: string;
  readonly open?: true;
}

/** Time that a person has to log in. */
const TIMEOUT_MS = 10 * 60_000;

/**
 * Logs in at a server. Ends with 1 if it fails, or after Ctrl-C. Error codes: `invalid_usage`, `config_invalid`,
 * `file_unwritable`.
 */
export async function logIn(
  cli: CliContext,
  name: string,
  { persona, open }: LogInOptions,
): Promise<void> {
  const { servers, unusable } = await configured(cli, persona);
  const server = servers.find((each) => each.name === name);
  const problem = unusable.find((each) => each.name === name)?.problem;
  if (server === undefined) {
    throw problem === undefined
      ? noSuchServer(servers.map((each) => each.name))
      : wrongUsage(problem);
  }
  const [{ Logins, loginPlace, secretsOfLogin }, { LoginError }, oauth, { createConceal }] =
    await Promise.all([
      import("../../../mcp/oauth/logins.ts"),
      import("../../../mcp/oauth/oauth-fetch.ts"),
      import("../../../mcp/oauth/log-in.ts"),
      import("../../../core/secrets.ts"),
    ]);
  const place = loginPlace(server);
  if (place === null) {
    throw wrongUsage(
      server.place.kind === "program"
        ? "This server is a program: it needs no login here."
        : "This server is given a header Authorization by its config, so it needs no login.",
    );
  }
  const folder = mcpFolderPath(cli);
  if (folder === null) {
    throw wrongUsage("There is no place to keep a login, because HOME is not set; set HOME.");
  }
  const logins = new Logins(folder);
  const known = await logins.read(place);
  const stop = new AbortController();
  const stopListening = onSignals(cli, () => stop.abort(new LoginError("it was cancelled")));
  const late = setTimeout(
    () => stop.abort(new LoginError("nobody logged in within 10 minutes")),
    TIMEOUT_MS,
  );
  using opened = new DisposableStack();
  try {
    const login = await oauth.logIn({
      place,
      headers: server.place.kind === "address" ? server.place.headers : {},
      client: server.client,
      // a server that has asked for more gets what it had, too
      more: known?.wanted === undefined ? null : oauth.scopesOf(known.scope, known.wanted),
      signal: stop.signal,
      onAddress: (address, issuer, offer) => {
        const canPaste = cli.stdin.isTTY === true;
        noticeLine(
          cli,
          `Open this address in a browser on this machine, to log in to ${oneLine(name)} at ${oneLine(new URL(issuer).origin)}. ${canPaste ? `${PASTE} ` : ""}Ctrl-C cancels.`,
        );
        printLine(cli, oneLine(address));
        if (open === true) {
          void openInBrowser(cli, address);
        }
        if (canPaste) {
          const reader = readPasted(cli, offer);
          opened.defer(() => reader.close());
        }
      },
    });
    await keepOrRevoke(logins, login);
    printLine(cli, `logged in  ${oneLine(name)}`);
  } catch (error) {
    if (!(error instanceof LoginError)) {
      throw error;
    }
    const conceal = createConceal([
      ...server.secrets,
      ...(await logins.named(name)).flatMap(secretsOfLogin),
    ]);
    note(cli, conceal(`The login at the MCP server ${oneLine(name)} failed: ${error.message}.`));
    cli.exitCode = 1;
  } finally {
    clearTimeout(late);
    stopListening();
  }
}

/** A login that cannot be kept would count at its server until it expires. */
async function keepOrRevoke(
  logins: { keep(login: Login): Promise<void> },
  login: Login,
): Promise<void> {
  try {
    await logins.keep(login);
  } catch (error) {
    const { revoke } = await import("../../../mcp/oauth/revoke.ts");
    await revoke(login);
    throw error;
  }
}

const PASTE =
  "If your browser is on another machine, it ends at a page that it cannot open: paste the address of that page here.";

/** Takes lines of the terminal until one is the address that the login waits for. */
function readPasted(cli: CliContext, offer: (address: string) => boolean): Interface {
  const reader = createInterface({ input: cli.stdin });
  reader.on("line", (line) => {
    const address = line.trim();
    if (address !== "" && !offer(address)) {
      note(
        cli,
        "This is not the address that the login waits for. Paste the whole address that your browser was sent to; it begins with http://127.0.0.1.",
      );
    }
  });
  return reader;
}

/** Starts the program that opens addresses here, without a shell. If there is none, the person has the address. */
async function openInBrowser(cli: CliContext, address: string): Promise<void> {
  const { spawn } = await import("node:child_process");
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [address], {
    stdio: "ignore",
    detached: true,
    env: cli.env,
  });
  child.once("error", () =>
    note(cli, `The browser cannot be opened: there is no program ${program}.`),
  );
  child.unref();
}

/** Error codes: `invalid_usage`, `file_unwritable`. */
export async function logOut(cli: CliContext, name: string): Promise<void> {
  const folder = mcpFolderPath(cli);
  const { Logins } = await import("../../../mcp/oauth/logins.ts");
  const forgotten = folder === null ? [] : await new Logins(folder).forget(name);
  if (forgotten.length === 0) {
    throw wrongUsage("There is no login at a server of this name.");
  }
  printLine(cli, `logged out  ${oneLine(name)}`);
  const { revoke } = await import("../../../mcp/oauth/revoke.ts");
  const isRevoked = await Promise.all(forgotten.map(revoke));
  if (isRevoked.includes(false)) {
    note(
      cli,
      "The tokens are forgotten here. The authorization server could not be asked to revoke them, so it may accept them until they expire.",
    );
  }
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, chmodSync, chownSync, constants, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

import { onTestFinished } from "vitest";

import { freePort } from "./free-port.ts";
import { temporaryFolder } from "./temp.ts";

/** The installed program; null on a machine without it. Debian keeps it off the usual PATH. */
export const PGBOUNCER = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"]
  .map((folder) => join(folder, "pgbouncer"))
  .find(isExecutable);

export interface PgbouncerOptions {
  /** Where the server is; the pooler logs in there as the same user. */
  readonly url: string;
  readonly poolMode: "session" | "transaction" | "statement";
  /** Settings of `[pgbouncer]` instead of or besides the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** What docs/databases.md says that a pooler needs. */
const IGNORED = "statement_timeout,lock_timeout,idle_in_transaction_session_timeout,options";

/** Starts the real pooler before a database until the test is done; gives back its address. */
export async function startPgbouncer(options: PgbouncerOptions): Promise<string> {
  const port = await freePort();
  const folder = temporaryFolder();
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(file, configuration(options, port), { mode: 0o600 });
  const child = spawn(PGBOUNCER ?? "pgbouncer", [file], {
    stdio: ["ignore", "ignore", "pipe"],
    ...otherUser(folder, file),
  });
  const gone = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGQUIT");
    await gone;
  });
  let log = "";
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`pgbouncer ended: ${log}`)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes("process up")) {
        resolve();
      }
    });
  });
  const url = new URL(options.url);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return url.href;
}

/** It refuses to run as root. */
function otherUser(folder: string, file: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) {
    return {};
  }
  chmodSync(folder, 0o711);
  chownSync(file, NOBODY, NOBODY);
  return { uid: NOBODY, gid: NOBODY };
}

const NOBODY = 65_534;

function configuration({ url, poolMode, settings }: PgbouncerOptions, port: number): string {
  const { hostname, port: serverPort, username, password } = new URL(url);
  const quoted = decodeURIComponent(password).replaceAll("'", "''");
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    // who reaches the port gets in as the user of the line above
    auth_type: "any",
    pool_mode: poolMode,
    ignore_startup_parameters: IGNORED,
    // after a crash it tries again at once
    server_login_retry: 0.1,
    ...settings,
  };
  return [
    "[databases]",
    `* = host=${hostname} port=${serverPort} user=${username} password='${quoted}'`,
    "[pgbouncer]",
    ...Object.entries(all).map(([name, value]) => `${name} = ${value}`),
    "",
  ].join("\n");
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

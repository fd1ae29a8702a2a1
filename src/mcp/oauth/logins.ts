import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";

import { RepriseError, systemCode } from "../../core/errors.ts";
import type { Secret } from "../../core/secrets.ts";
import { withFileLock } from "../../store/file-lock.ts";
import { replaceFile } from "../../workspace/files/replace-file.ts";
import type { Server } from "../configured-servers.ts";

/** A login at a server, with all that a refresh needs: tokens never go to a place that was not known then. */
export interface Login {
  /** Name and address of the server: the tokens are for this address alone. */
  readonly server: string;
  readonly url: string;
  /** The resource that the tokens are for (RFC 8707). */
  readonly resource: string;
  readonly issuer: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint?: string;
  readonly auth_methods: readonly string[];
  readonly client_id: string;
  readonly client_secret?: string;
  readonly access_token: string;
  readonly refresh_token?: string;
  /** Rights that the tokens were given for; unknown without it. */
  readonly scope?: string;
  /** Rights that the server has asked for since: the next login asks for them. */
  readonly wanted?: string;
}

/** Server of a login: its name, and its address with the values of variables. */
export type LoginPlace = Pick<Login, "server" | "url">;

const VERSION = 1;
const MAX_BYTES = 1024 * 1024;
const LOCK_TIMEOUT_MS = 20_000;

/** Returns the place of the login of a server; null for a program, and for one that is given its own `Authorization`. */
export function loginPlace({ name, place }: Pick<Server, "name" | "place">): LoginPlace | null {
  return place.kind === "program" ||
    Object.keys(place.headers).some((header) => header.toLowerCase() === "authorization")
    ? null
    : { server: name, url: new URL(place.url).href };
}

/** Returns what of a login nobody is shown. */
export function secretsOfLogin(login: Login): readonly Secret[] {
  const { server, access_token, refresh_token, client_secret } = login;
  return [access_token, refresh_token, client_secret].flatMap((value) =>
    value === undefined ? [] : [{ name: `token of ${server}`, value }],
  );
}

const NOT_KEPT =
  "Logins cannot be kept in the folder reprise/mcp of XDG_STATE_HOME or ~/.local/state. Check who may write it, and whether the disk is full.";

/** The logins of a user, in one file (0600) of the folder that keeps what is known of servers. */
export class Logins {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = join(folder, "logins.json");
  }

  /** Returns the login of a place; null without one. A file that is not this user's, or that others may read, is not believed. */
  async read(place: LoginPlace): Promise<Login | null> {
    return (await this.all()).find((login) => isOf(login, place)) ?? null;
  }

  /** Returns the logins at servers of this name. */
  async named(server: string): Promise<readonly Login[]> {
    return (await this.all()).filter((login) => login.server === server);
  }

  /** Replaces the login of its place, all at once. Error codes: `file_unwritable`. */
  async keep(login: Login): Promise<void> {
    await this.#change((all) => [...all.filter((each) => !isOf(each, login)), login]);
  }

  /** Notes rights that a server asks for with its login, for the next one. A note that cannot be kept is made again by the next refusal. */
  async want(place: LoginPlace, scope: string): Promise<void> {
    const isNew = (login: Login): boolean => isOf(login, place) && login.wanted !== scope;
    if ((await this.all()).some(isNew)) {
      await this.#change((all) =>
        all.map((login) => (isNew(login) ? { ...login, wanted: scope } : login)),
      );
    }
  }

  /** Forgets the logins at servers of this name, and returns them. Error codes: `file_unwritable`. */
  async forget(server: string): Promise<readonly Login[]> {
    const found = await this.named(server);
    if (found.length > 0) {
      await this.#change((all) => all.filter((login) => login.server !== server));
    }
    return found;
  }

  /** Runs `work` in one process at a time for a place. */
  async alone<Output>(place: LoginPlace, work: () => Promise<Output>): Promise<Output> {
    const { createHash } = await import("node:crypto");
    const name = createHash("sha256").update(JSON.stringify([place.server, place.url]));
    return this.#locked(`${this.#file}.${name.digest("hex").slice(0, 16)}`, work);
  }

  async #change(change: (all: readonly Login[]) => readonly Login[]): Promise<void> {
    try {
      await this.#locked(this.#file, async () => {
        const logins = change(await this.all());
        const text = `${JSON.stringify({ version: VERSION, logins }, null, 2)}\n`;
        await replaceFile(this.#file, text, { mode: 0o600 });
      });
    } catch (cause) {
      throw new RepriseError("file_unwritable", NOT_KEPT, { cause });
    }
  }

  async #locked<Output>(file: string, work: () => Promise<Output>): Promise<Output> {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return withFileLock({ file, onLongWait: () => {}, timeoutMs: LOCK_TIMEOUT_MS }, work);
  }

  /** Returns all logins; none from a file that is not believed. */
  async all(): Promise<readonly Login[]> {
    const text = await this.#text();
    try {
      const value: unknown = text === null ? null : JSON.parse(text);
      const logins = isRecord(value) && value["version"] === VERSION ? value["logins"] : [];
      return Array.isArray(logins) ? logins.filter(isLogin) : [];
    } catch {
      return [];
    }
  }

  async #text(): Promise<string | null> {
    try {
      const file = await open(
        this.#file,
        constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW,
      );
      try {
        const found = await file.stat();
        const isOwn = found.uid === userInfo().uid && (found.mode & 0o077) === 0;
        return found.isFile() && isOwn && found.size <= MAX_BYTES
          ? await file.readFile("utf8")
          : null;
      } finally {
        await file.close();
      }
    } catch (error) {
      if (systemCode(error) === null) {
        throw error;
      }
      return null;
    }
  }
}

function isOf(login: Login, { server, url }: LoginPlace): boolean {
  return login.server === server && login.url === url;
}

const TEXTS = [
  "server",
  "url",
  "resource",
  "issuer",
  "token_endpoint",
  "client_id",
  "access_token",
] as const;
const OPTIONAL = [
  "revocation_endpoint",
  "client_secret",
  "refresh_token",
  "scope",
  "wanted",
] as const;

function isLogin(value: unknown): value is Login {
  return (
    isRecord(value) &&
    TEXTS.every((name) => typeof value[name] === "string") &&
    OPTIONAL.every((name) => ["string", "undefined"].includes(typeof value[name])) &&
    Array.isArray(value["auth_methods"]) &&
    value["auth_methods"].every((method) => typeof method === "string")
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

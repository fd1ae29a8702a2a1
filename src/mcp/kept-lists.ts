import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { oneLine } from "../core/text/terminal-text.ts";
import type { Server } from "./configured-servers.ts";
import type { Connection } from "./connection.ts";
import { type ListedTool, listTools } from "./listed-tools.ts";
import type { ListedPrompt, ListedResource } from "./offers.ts";

/** Bytes of the file of one server: a larger one was not written here. */
const MAX_BYTES = 1024 * 1024;

/**
 * Returns the tools that a server had when it was last asked, for when it cannot be reached; none if nothing is kept. They
 * are checked again: another program may have written the file.
 */
export async function readKeptTools(
  folder: string | null,
  server: Server,
): Promise<readonly ListedTool[]> {
  try {
    const file = fileOf("tools", folder, server);
    if (file === null || (await stat(file)).size > MAX_BYTES) {
      return [];
    }
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    const given = Array.isArray(value) ? value.flatMap(givenTool) : [];
    return listTools(server.name, given, server.tools).tools;
  } catch {
    return [];
  }
}

/** Keeps the tools of a server. What cannot be kept is asked for again: nothing fails. */
export async function keepTools(
  folder: string | null,
  server: Server,
  tools: readonly ListedTool[],
): Promise<void> {
  const file = fileOf("tools", folder, server);
  if (file === null) {
    return;
  }
  const kept = tools.map(({ name, description, schema }) => ({
    name,
    description,
    inputSchema: schema,
  }));
  await write(file, kept);
}

async function write(file: string, kept: unknown): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(temporary, JSON.stringify(kept), { mode: 0o600 });
    await rename(temporary, file);
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

function fileOf(
  kind: "tools" | "offers",
  folder: string | null,
  { name, hash }: Server,
): string | null {
  return folder === null ? null : join(folder, kind, `${name}-${hash}.json`);
}

/** Resources and prompts that a person can name of a server. */
export interface KeptOffers {
  readonly resources: readonly ListedResource[];
  readonly prompts: readonly Pick<ListedPrompt, "name" | "arguments">[];
}

const NONE: KeptOffers = { resources: [], prompts: [] };
/** Entries of a list that are kept, and characters of one. */
const MAX_KEPT = 300;
const MAX_URI = 500;
const MAX_NAME = 128;
const MAX_ARGUMENTS = 20;
/** Time for which kept lists are taken for current. */
const OFFERS_FRESH_MS = 10 * 60_000;

/** True if the resources and prompts of a server were kept lately. */
export async function areOffersFresh(folder: string | null, server: Server): Promise<boolean> {
  const file = fileOf("offers", folder, server);
  const found = file === null ? null : await stat(file).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs < OFFERS_FRESH_MS;
}

/** Asks a server for its resources and prompts, and keeps them for completion. What cannot be asked for or kept is left. */
export async function learnOffers(
  folder: string | null,
  server: Server,
  {
    connection,
    signal,
  }: {
    readonly connection: Pick<Connection, "resources" | "prompts">;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const file = fileOf("offers", folder, server);
  if (file === null) {
    return;
  }
  const [resources, prompts] = await Promise.all([
    connection.resources(signal).catch(() => null),
    connection.prompts(signal).catch(() => null),
  ]);
  if (resources !== null || prompts !== null) {
    await write(file, usableOffers({ resources: resources ?? [], prompts: prompts ?? [] }));
  }
}

/** Returns the resources and prompts that a server had when it was last asked; none if nothing is kept. Starts nothing. */
export async function readKeptOffers(folder: string | null, server: Server): Promise<KeptOffers> {
  try {
    const file = fileOf("offers", folder, server);
    if (file === null || (await stat(file)).size > MAX_BYTES) {
      return NONE;
    }
    return usableOffers(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return NONE;
  }
}

/** Leaves out what a message cannot name: another program may have written the file, and a server the lists. */
function usableOffers(given: unknown): KeptOffers {
  return {
    resources: listIn(given, "resources").flatMap((each) => {
      const [uri, name] = [textIn(each, "uri"), textIn(each, "name")];
      const isUsable = /^[^\s"'<>]+$/.test(uri) && uri.length <= MAX_URI && oneLine(uri) === uri;
      return isUsable ? [{ uri, name: oneLine(name.slice(0, MAX_NAME)) }] : [];
    }),
    prompts: listIn(given, "prompts").flatMap((each) => {
      const name = textIn(each, "name");
      const isUsable = /^\S+$/.test(name) && name.length <= MAX_NAME && oneLine(name) === name;
      const args = listIn(each, "arguments").slice(0, MAX_ARGUMENTS);
      return isUsable ? [{ name, arguments: args.map(argumentIn) }] : [];
    }),
  };
}

function argumentIn(given: unknown): ListedPrompt["arguments"][number] {
  return {
    name: oneLine(textIn(given, "name").slice(0, MAX_NAME)),
    isRequired: memberOf(given, "isRequired") === true,
  };
}

function listIn(given: unknown, name: string): readonly unknown[] {
  const list = memberOf(given, name);
  return Array.isArray(list) ? list.slice(0, MAX_KEPT) : [];
}

function textIn(given: unknown, name: string): string {
  const text = memberOf(given, name);
  return typeof text === "string" ? text : "";
}

function memberOf(given: unknown, name: string): unknown {
  return typeof given === "object" && given !== null && Object.hasOwn(given, name)
    ? Reflect.get(given, name)
    : undefined;
}

function givenTool(value: unknown) {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  const name: unknown = Reflect.get(value, "name");
  const description: unknown = Reflect.get(value, "description");
  const inputSchema: unknown = Reflect.get(value, "inputSchema");
  return typeof name === "string" && typeof description === "string"
    ? [{ name, description, inputSchema }]
    : [];
}

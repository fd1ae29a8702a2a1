import { stat } from "node:fs/promises";

import { oneLine } from "../core/text/terminal-text.ts";
import type { Server } from "./configured-servers.ts";
import type { Connection } from "./connection.ts";
import { fileOf, readKept, writeKept } from "./kept-files.ts";
import { type ListedTool, listTools } from "./listed-tools.ts";
import type { ListedPrompt, ListedResource } from "./offers.ts";

/**
 * Returns the tools that a server had when it was last asked, for when it cannot be reached; none if nothing is kept. They
 * are checked again: another program may have written the file.
 */
export async function readKeptTools(
  folder: string | null,
  server: Server,
): Promise<readonly ListedTool[]> {
  const value = await readKept("tools", folder, server);
  try {
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
  const kept = tools.map(({ name, description, schema }) => ({
    name,
    description,
    inputSchema: schema,
  }));
  await writeKept("tools", folder, server, kept);
}

/** Resources and prompts that a person can name of a server. */
export interface KeptOffers {
  readonly resources: readonly ListedResource[];
  readonly prompts: readonly Pick<ListedPrompt, "name" | "arguments">[];
}

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

/**
 * Asks a server for its resources and prompts, and keeps them for completion. What cannot be asked for or kept is left; of
 * lists that `signal` cut off, nothing is kept.
 */
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
  if (folder === null) {
    return;
  }
  const [resources, prompts] = await Promise.all([
    connection.resources(signal).catch(() => null),
    connection.prompts(signal).catch(() => null),
  ]);
  if (!signal.aborted && (resources !== null || prompts !== null)) {
    const offers = usableOffers({ resources: resources ?? [], prompts: prompts ?? [] });
    await writeKept("offers", folder, server, offers);
  }
}

/** Returns the resources and prompts that a server had when it was last asked; none if nothing is kept. Starts nothing. */
export async function readKeptOffers(folder: string | null, server: Server): Promise<KeptOffers> {
  return usableOffers(await readKept("offers", folder, server));
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

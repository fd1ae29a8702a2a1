import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { Server } from "./configured-servers.ts";
import { type ListedTool, listTools } from "./listed-tools.ts";

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
    const file = fileOf(folder, server);
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
  const file = fileOf(folder, server);
  if (file === null) {
    return;
  }
  const kept = tools.map(({ name, description, schema }) => ({
    name,
    description,
    inputSchema: schema,
  }));
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(temporary, JSON.stringify(kept), { mode: 0o600 });
    await rename(temporary, file);
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

function fileOf(folder: string | null, { name, hash }: Server): string | null {
  return folder === null ? null : join(folder, "tools", `${name}-${hash}.json`);
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

import { createHash } from "node:crypto";
import { mkdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";

import { replaceFile } from "../../workspace/files/replace-file.ts";
import { isRecord, type ListedModel, readListed } from "./ask-list.ts";

/** A list is asked for again after an hour. */
const FRESH_MS = 60 * 60 * 1000;
/** Of the file: a larger one was not written here. */
const MAX_BYTES = 8 * 1024 * 1024;

/** The list of a provider at one address. */
interface KeptList {
  /** A hash: the address may hold a secret. */
  readonly address: string;
  /** In milliseconds. */
  readonly asked_at: number;
  readonly models: readonly ListedModel[];
}

/** By the names of the providers. */
export type KeptLists = Readonly<Record<string, KeptList>>;

export function keptList(url: string, models: readonly ListedModel[], now: number): KeptList {
  return { address: hashOf(url), asked_at: now, models };
}

/** The lists of providers that a file keeps; none if it cannot be read. */
export async function readKeptLists(file: string | null): Promise<KeptLists> {
  try {
    if (file === null || (await stat(file)).size > MAX_BYTES) {
      return {};
    }
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    const lists = Object.entries(isRecord(value) ? value : {}).flatMap(([name, list]) => {
      const read = readKept(list);
      return read === null ? [] : [[name, read] as const];
    });
    return Object.fromEntries(lists);
  } catch {
    return {};
  }
}

function readKept(value: unknown): KeptList | null {
  if (!isRecord(value)) {
    return null;
  }
  const { address, asked_at, models } = value;
  const listed = readListed(models);
  return typeof address === "string" && typeof asked_at === "number" && listed !== null
    ? { address, asked_at, models: listed }
    : null;
}

function hashOf(url: string): string {
  return createHash("sha256").update(url).digest("hex");
}

/** Returns the list of a provider at this address; null if it is older than an hour. */
export function freshList(
  kept: KeptLists,
  { name, url, now }: { readonly name: string; readonly url: string; readonly now: number },
): readonly ListedModel[] | null {
  const list = Object.hasOwn(kept, name) ? kept[name] : undefined;
  const age = now - (list?.asked_at ?? Number.NEGATIVE_INFINITY);
  return list?.address === hashOf(url) && age >= 0 && age < FRESH_MS ? list.models : null;
}

/** Replaces the file all at once. Nothing fails by it. */
export async function keepLists(file: string | null, lists: KeptLists): Promise<void> {
  if (file === null) {
    return;
  }
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await replaceFile(file, JSON.stringify(lists), { mode: 0o600 });
  } catch {
    // the providers are asked again
  }
}

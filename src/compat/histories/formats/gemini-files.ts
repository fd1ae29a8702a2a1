import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The project's folder is in a file beside the chats; its hash, which is in the chat, proves it. */
export async function folderOf(source: string, hash: string | null): Promise<string | null> {
  const file = join(dirname(dirname(source)), ".project_root");
  const folder = (await readFile(file, "utf8").catch(() => "")).slice(0, 8192).trim();
  const isProved = createHash("sha256").update(folder).digest("hex") === hash;
  return folder !== "" && isProved ? folder : null;
}

/** Returns the files of the sub-agents of a conversation: their folder has its id, with what a name may not have replaced. */
export async function subagentFiles(chats: string, id: string): Promise<string[]> {
  const folder = join(chats, id.replace(/[^\w-]/g, "_"));
  const names = id === "" ? [] : await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(folder, name));
}

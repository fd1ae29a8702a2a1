import type { Completions } from "./completion.ts";

/** `@` at the beginning of a word, and the beginning of a name. */
const MENTION = /(?:^|[\s([{"'])@([A-Za-z][\w-]{0,31})$/u;
const MAX_WRITTEN = 40;

interface ServerCompletionsOptions {
  /** Completions of files, which come after them. */
  readonly files: Completions;
  /** Reads the names of the MCP servers that are on. Starts none. */
  readonly names: () => Promise<readonly string[]>;
  /** Called when the names have come. */
  readonly changed: () => void;
}

/** Names of MCP servers after `@`, for a resource of theirs, and files. The server alone knows what follows its name. */
export function serverCompletions({
  files,
  names,
  changed,
}: ServerCompletionsOptions): Completions {
  let known: readonly string[] = [];
  let version = 0;
  let isRead = false;
  const read = (): void => {
    if (!isRead) {
      isRead = true;
      names().then(
        (found) => {
          known = found;
          version += 1;
          changed();
        },
        // the config is wrong, which the next exchange says
        () => undefined,
      );
    }
  };
  return {
    version: () => version + files.version(),
    find: (before) => {
      const found = files.find(before);
      const written = MENTION.exec(before.slice(-MAX_WRITTEN))?.[1]?.toLowerCase();
      if (written === undefined) {
        return found;
      }
      read();
      const servers = known
        .filter((name) => name.toLowerCase().startsWith(written))
        .map((name) => ({
          text: `@${name}:`,
          label: `${name}:`,
          help: "resource of an MCP server",
        }));
      return servers.length === 0
        ? found
        : { length: written.length + 1, items: [...servers, ...(found?.items ?? [])] };
    },
  };
}

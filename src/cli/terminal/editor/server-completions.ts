import type { KnownServer } from "../../chat/slash/known-servers.ts";
import { fuzzyFilter } from "../pi/fuzzy.ts";
import type { Completion, Completions } from "./completion.ts";

/** `@` at the beginning of a word, the beginning of a name, and that of a resource of it. */
const MENTION = /(?:^|[\s([{"'])@([A-Za-z][\w-]{0,31})(?::([^\s"'<>]{0,500}))?$/u;
const MAX_WRITTEN = 540;

interface ServerCompletionsOptions {
  /** Completions of files, which come after them. */
  readonly files: Completions;
  /** Reads the MCP servers that are on. Starts none. */
  readonly servers: () => Promise<readonly KnownServer[]>;
  /** Called when they have come. */
  readonly changed: () => void;
}

/** Names of MCP servers after `@`, the resources that one had when it was last asked after `@name:`, and files. */
export function serverCompletions({
  files,
  servers: readServers,
  changed,
}: ServerCompletionsOptions): Completions {
  let known: readonly KnownServer[] = [];
  let version = 0;
  let isRead = false;
  const read = (): void => {
    if (!isRead) {
      isRead = true;
      readServers().then(
        (found) => {
          known = found;
          version += 1;
          changed();
        },
        () => {
          isRead = false;
        },
      );
    }
  };
  return {
    version: () => version + files.version(),
    find: (before) => {
      const found = files.find(before);
      const [, name, uri] = MENTION.exec(before.slice(-MAX_WRITTEN)) ?? [];
      if (name === undefined) {
        return found;
      }
      read();
      if (uri !== undefined) {
        const items = resourcesOf(known, name, uri);
        return items.length === 0 ? found : { length: name.length + uri.length + 2, items };
      }
      const written = name.toLowerCase();
      const servers = known
        .filter((each) => each.name.toLowerCase().startsWith(written))
        .map((each) => ({
          text: `@${each.name}:`,
          label: `${each.name}:`,
          help: "resource of an MCP server",
        }));
      return servers.length === 0
        ? found
        : { length: written.length + 1, items: [...servers, ...(found?.items ?? [])] };
    },
  };
}

/** Returns those that begin with it, then those whose address or name has its letters in this order. */
function resourcesOf(
  known: readonly KnownServer[],
  name: string,
  written: string,
): readonly Completion[] {
  const resources = known.find((each) => each.name === name)?.resources ?? [];
  const begins = resources.filter(({ uri }) => uri.startsWith(written));
  const rest = resources.filter((each) => !begins.includes(each));
  const others =
    written === "" ? [] : fuzzyFilter(rest, written, (each) => `${each.uri} ${each.name}`);
  return [...begins, ...others].map((each) => ({
    text: `@${name}:${each.uri} `,
    label: each.uri,
    help: each.name,
  }));
}

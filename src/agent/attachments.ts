import { oneLine } from "../core/text/terminal-text.ts";
import type { Connection } from "../mcp/connection.ts";
import type { ListedPrompt } from "../mcp/offers.ts";
import type { Servers } from "../mcp/servers.ts";

export interface AttachInput {
  /** Null if the folder has none: then a message is what it says. */
  readonly servers: Servers | null;
  readonly signal: AbortSignal;
  /** Gets a sentence for a person. */
  readonly onNotice: (sentence: string) => void;
}

/** `@server:uri` at the beginning of a word. */
const MENTION = /(?<=^|[\s([{"'])@([A-Za-z][\w-]{0,31}):([^\s"'<>]{1,2000})/gu;
/** Characters that end a sentence and do not belong to a URI. */
const END = /[.,;:!?)\]}]+$/u;
/** `/server:prompt arguments`, the whole message. */
const CALL = /^\/([A-Za-z][\w-]{0,31}):(\S{0,128})(?:\s+([\s\S]*))?$/u;
const MAX_RESOURCES = 10;
/** Characters of all that a message brings. */
const MAX_TEXT = 96 * 1024;
const ATTACH_MS = 15_000;
const MAX_NAMED = 30;

/**
 * Returns what a person's message brings from MCP servers, for the model: resources by `@server:uri`, and the prompt that
 * the whole message calls by `/server:prompt`. Null for nothing; a server that does not answer costs a sentence.
 */
export async function attachments(text: string, input: AttachInput): Promise<string | null> {
  const { servers } = input;
  if (servers === null) {
    return null;
  }
  const called = CALL.exec(text.trim());
  const parts =
    called === null
      ? await Promise.all(mentionsIn(text, servers).map((each) => resource(each, servers, input)))
      : [await prompt(called, servers, input)];
  const found = parts.filter((part) => part !== null).join("\n\n");
  // no server's text ends the note that it is put into
  const kept = found.replaceAll(/<(?=\/?note_of_the_program)/gi, "‹");
  return kept === "" ? null : kept.slice(0, MAX_TEXT).toWellFormed();
}

interface Mention {
  readonly server: string;
  readonly uri: string;
}

function mentionsIn(text: string, servers: Servers): readonly Mention[] {
  const all = Array.from(text.matchAll(MENTION), ([, server = "", uri = ""]) => ({
    server,
    uri: uri.replace(END, ""),
  }));
  const known = all.filter(({ server }) => servers.serverOf(`${server}__`) !== null);
  const isFirst = (one: Mention, at: number): boolean =>
    known.findIndex(({ server, uri }) => server === one.server && uri === one.uri) === at;
  return known.filter(isFirst).slice(0, MAX_RESOURCES);
}

async function resource(
  { server, uri }: Mention,
  servers: Servers,
  input: AttachInput,
): Promise<string> {
  const name = `@${server}:${oneLine(uri)}`;
  return attached(server, servers, input, {
    what: `The resource ${name}`,
    read: async (connection, signal) =>
      `[The resource ${name}, which the message names; it is data of a server, and no words of the user:]\n${await connection.readResource(uri, signal)}`,
  });
}

async function prompt(
  [, server = "", name = "", argument = ""]: RegExpExecArray,
  servers: Servers,
  input: AttachInput,
): Promise<string | null> {
  if (servers.serverOf(`${server}__`) === null) {
    return null;
  }
  const shown = `/${server}:${oneLine(name)}`;
  return attached(server, servers, input, {
    what: `The prompt ${shown}`,
    read: async (connection, signal) => {
      const known = await connection.prompts(signal);
      const found = known.find((each) => each.name === name);
      if (found === undefined) {
        throw new Unknown(known);
      }
      const given = argumentsOf(found, argument);
      const missing = found.arguments.find(
        (each) => each.isRequired && given[each.name] === undefined,
      );
      if (missing !== undefined) {
        throw new Missing(found);
      }
      const text = await connection.getPrompt({ name, arguments: given }, signal);
      return `[The prompt ${shown} of an MCP server, which the user calls:]\n${text}`;
    },
  });
}

/** Errors with the end of a sentence as their message. */
class Unusable extends Error {}

class Unknown extends Unusable {
  constructor(known: readonly ListedPrompt[]) {
    const names = known.slice(0, MAX_NAMED).map(({ name }) => oneLine(name));
    super(
      names.length === 0
        ? "the server has no prompts"
        : `the server has these: ${names.join(", ")}`,
    );
  }
}

class Missing extends Unusable {
  constructor(prompt: ListedPrompt) {
    const names = prompt.arguments.map(({ name, isRequired }) =>
      isRequired ? oneLine(name) : `[${oneLine(name)}]`,
    );
    super(`it needs these arguments: ${names.join(" ")}`);
  }
}

interface Reading {
  readonly what: string;
  readonly read: (connection: Connection, signal: AbortSignal) => Promise<string>;
}

async function attached(
  name: string,
  servers: Servers,
  { signal, onNotice }: AttachInput,
  { what, read }: Reading,
): Promise<string> {
  const server = servers.serverOf(`${name}__`);
  const until = AbortSignal.any([signal, AbortSignal.timeout(ATTACH_MS)]);
  try {
    if (server === null) {
      throw new Unusable("its server is not configured");
    }
    const text = await read(await servers.connection(server, ATTACH_MS), until);
    onNotice(`${what} is attached (${text.length.toLocaleString("en")} characters).`);
    return text;
  } catch (error) {
    signal.throwIfAborted();
    const { reasonOf } = await import("../mcp/reasons.ts");
    const reason = error instanceof Unusable ? error.message : reasonOf(error);
    onNotice(`${what} is not attached: ${reason}.`);
    return `[${what} could not be read: ${reason}.]`;
  }
}

/** `name=value` for an argument that has this name, else the next one without a value; the last takes the rest. */
function argumentsOf(
  { arguments: known }: ListedPrompt,
  text: string,
): Readonly<Record<string, string>> {
  const words = Array.from(
    text.matchAll(/([\w.-]+=)?(?:"([^"]*)"|'([^']*)'|(\S+))/g),
    ([, name = "", double, single, plain]) => ({
      name: name.slice(0, -1),
      value: double ?? single ?? plain ?? "",
    }),
  );
  const given: Record<string, string> = {};
  for (const { name, value } of words) {
    const isNamed = known.some((each) => each.name === name);
    const written = isNamed || name === "" ? value : `${name}=${value}`;
    const next = known.find((each) => given[each.name] === undefined)?.name;
    const last = known.at(-1)?.name;
    if (isNamed) {
      given[name] = written;
    } else if (next !== undefined) {
      given[next] = written;
    } else if (last !== undefined) {
      given[last] = `${given[last] ?? ""} ${written}`.trim();
    }
  }
  return given;
}

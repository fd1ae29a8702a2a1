/** File of the folder of a session that names servers, as Claude Code has it. */
export const MCP_FILE = ".mcp.json";

export type McpEntries = Readonly<Record<string, McpEntry>>;

/** An MCP server as it is written: variables in it are not yet replaced. */
export interface McpEntry {
  /** Null for an entry that only turns a server off. */
  readonly place: McpPlace | null;
  /** The server's own names of the tools that are used; null for all. */
  readonly tools: readonly string[] | null;
  readonly timeoutMs: number;
  readonly isEnabled: boolean;
  /** A client that the user has registered for logins; null to register one. */
  readonly client: McpClient | null;
  /** Where it is named, for a person: `config`, `.mcp.json`, `persona reviewer`. */
  readonly from: string;
  /** Texts in which `${NAME}` and `${NAME:-default}` are variables: values of `env` and `headers`, or all. */
  readonly expands: "values" | "all";
}

/** A client of an authorization server. */
export interface McpClient {
  readonly id: string;
  /** With variables, as values of headers; null without one. */
  readonly secret: string | null;
  /** Port of the registered redirect address; null for any. */
  readonly port: number | null;
}

/** Where a server is: a program that is started, or an address. */
export type McpPlace =
  | {
      readonly kind: "program";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: "address";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

/** Time that a call of a server's tool may take, if nothing says it. */
export const MCP_TIMEOUT_MS = 60_000;

/** `${NAME}` and `${NAME:-default}`, as Claude Code has them: "Environment variable expansion" of its page on MCP. */
const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** Replaces the variables of a text by what `valueOf` returns; it gets the default, null for none. */
export function withVariables(
  text: string,
  valueOf: (name: string, fallback: string | null) => string,
): string {
  return text.replace(VARIABLE, (_, name: string, fallback: string | undefined) =>
    valueOf(name, fallback ?? null),
  );
}

type Expanding = Pick<McpEntry, "place" | "client" | "expands">;

/** Returns the texts of a server in which variables are replaced. */
export function expandedTexts({ place, client, expands }: Expanding): string[] {
  if (place === null) {
    return [];
  }
  const values = [
    ...Object.values(place.kind === "program" ? place.env : place.headers),
    ...(client?.secret === undefined || client.secret === null ? [] : [client.secret]),
  ];
  const others = place.kind === "program" ? [place.command, ...place.args] : [place.url];
  return expands === "all" ? [...others, ...values] : values;
}

/** Returns the names of the variables that a server reads, each once. */
export function variablesOf(entry: Expanding): readonly string[] {
  const names = new Set<string>();
  for (const text of expandedTexts(entry)) {
    withVariables(text, (name) => {
      names.add(name);
      return "";
    });
  }
  return [...names];
}

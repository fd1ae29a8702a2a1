/*
 * The order of the folders: `docs/ARCHITECTURE.md` says what is in each. Imports point from the outside in, types
 * included; `npm run folders` checks it.
 */

/** Folders directly in `src` from the inside out, with those that each may import. */
export const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  store: ["core"],
  artifacts: ["core"],
  workspace: ["core", "store"],
  rules: ["core", "store", "workspace"],
  exchange: ["core", "store", "workspace", "rules"],
  plans: ["core", "store", "artifacts", "workspace", "rules", "exchange"],
  mcp: ["core", "store", "workspace", "rules", "exchange"],
  langgraph: ["core", "store"],
  compat: ["core", "store", "rules", "exchange", "langgraph"],
  agent: ["core", "store", "workspace", "rules", "exchange", "plans", "mcp", "langgraph"],
  http: ["core", "store", "artifacts", "workspace", "rules", "exchange", "plans", "compat"],
  acp: ["core", "store", "workspace", "rules", "exchange"],
  client: ["core"],
  "mcp-serve": ["core", "client"],
  cli: [
    "core",
    "store",
    "artifacts",
    "workspace",
    "rules",
    "exchange",
    "plans",
    "mcp",
    "http",
    "acp",
    "client",
    "mcp-serve",
    "compat",
  ],
  library: ["core", "store", "workspace", "rules", "exchange", "agent", "http"],
};

/** Files and folders of `src` that put the others together: they import any, and none imports them. */
export const COMPOSITION = ["compose.ts", "entries", "index.ts", "main.ts"];

/** Folders that belong together, from the inside out: each may import those before it. Every folder is named. */
export const ORDER: Readonly<Record<string, readonly string[]>> = {
  "src/store": ["tables", "engines", "records", "checkpoints", "verify", "portable"],
  "src/exchange": ["live", "nodes", "undo", "transcript"],
  "src/cli": ["process", "output", "chat", "lines", "terminal", "commands"],
  "src/cli/terminal": ["pi", "text", "screen", "markdown", "rows", "editor", "questions", "picker"],
};

/** Folders whose folders import each other, and why they do. */
export const KNOTS: Readonly<Record<string, string>> = {
  "src/store/records":
    "one transaction changes sessions, messages, exchanges, questions and leases together",
  "src/rules":
    "a persona names rules and a model, a config names personas, and trust covers what both come from",
};

/** Files directly in a folder at most: a reader sees them at once. */
export const MAX_FILES = 25;

import { readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";

import { RepriseError } from "../../core/errors.ts";

/** Where an agent's module is. */
export interface FoundAgent {
  /** Absolute. */
  readonly file: string;
  /** What it exports the agent as; null for `agent`, `graph` or the default. */
  readonly exported: string | null;
  /** The agent's name if neither the module nor its graph has one. */
  readonly name: string;
}

/**
 * Finds the agent that `--agent` names: a JavaScript or TypeScript module, or a langgraph.json, which
 * names graphs. `:` and a name after the path choose an export of the module, or one of the graphs.
 *
 * Error codes: `file_unreadable`, `config_invalid`.
 */
export async function findAgent(cwd: string, reference: string): Promise<FoundAgent> {
  const whole = resolve(cwd, reference);
  const [, path = whole, chosen = null] = (await isFile(whole))
    ? []
    : (/^(.+):([\w$-]+)$/s.exec(whole) ?? []);
  if (!(await isFile(path))) {
    throw new RepriseError(
      "file_unreadable",
      "There is no file at the path of --agent. Name a module such as ./agent.js, or a langgraph.json.",
    );
  }
  return extname(path) === ".json"
    ? graphOf(path, chosen)
    : { file: path, exported: chosen, name: chosen ?? basename(path, extname(path)) };
}

async function graphOf(path: string, chosen: string | null): Promise<FoundAgent> {
  const graphs = await readGraphs(path);
  const [first, ...others] = graphs.keys();
  if (chosen === null && others.length > 0) {
    throw invalid("The langgraph.json names several graphs. Choose one: langgraph.json:<name>.");
  }
  const name = chosen ?? first ?? "";
  const target = graphs.get(name);
  if (target === undefined) {
    throw invalid("The langgraph.json has no graph of this name. Choose one of its `graphs`.");
  }
  const [, file = target, exported = null] = /^(.+):([\w$]+)$/s.exec(target) ?? [];
  if (!/\.[cm]?[jt]s$/.test(file)) {
    throw invalid(
      "The graph is not JavaScript or TypeScript, so Reprise cannot run it. Choose a .js or .ts graph.",
    );
  }
  return { file: resolve(dirname(path), file), exported, name };
}

/** The graphs of a langgraph.json: `"./src/agent.js:graph"`, or an object with such a `path`. */
async function readGraphs(path: string): Promise<ReadonlyMap<string, string>> {
  let graphs: unknown;
  try {
    graphs = memberOf(JSON.parse(await readFile(path, "utf8")), "graphs");
  } catch (cause) {
    throw new RepriseError("config_invalid", "The langgraph.json is not valid JSON; fix it.", {
      cause,
    });
  }
  const entries = typeof graphs === "object" && graphs !== null ? Object.entries(graphs) : [];
  return new Map(
    entries.flatMap(([name, graph]: [string, unknown]) => {
      const target: unknown = typeof graph === "string" ? graph : memberOf(graph, "path");
      return typeof target === "string" ? [[name, target] as const] : [];
    }),
  );
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

function invalid(sentence: string): RepriseError {
  return new RepriseError("config_invalid", sentence);
}

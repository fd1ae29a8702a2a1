import type { Plugin } from "rolldown";

const IMPORT =
  /^import (?:(?<default>[\w$]+), )?(?:(?<name>[\w$]+)|\* as (?<space>[\w$]+)|\{(?<names>[^}]*)\}) from "(?<module>node:[\w/]+)";$/gm;
const BARE = /^import "node:[\w/]+";\n/gm;

/**
 * Takes Node.js' own modules with `process.getBuiltinModule`. An `import` makes Node.js read every
 * property of the module, and with `node:fs`, `node:process` and others that loads what is not used
 * for: about a tenth of the time in which an empty program starts, for each of them.
 */
export function builtinsAtOnce(): Plugin {
  return {
    name: "builtins-at-once",
    renderChunk: (code) =>
      code.replace(BARE, "").replace(IMPORT, (_, ...rest) => {
        const groups: Record<string, string | undefined> = rest.at(-1);
        const from = `globalThis.process.getBuiltinModule("${groups["module"]}")`;
        if (LATE.has(groups["module"]) && groups["names"] !== undefined) {
          return lateFunctions(from, groups["names"]);
        }
        const names = groups["names"]?.replaceAll(" as ", ": ");
        return [groups["default"], groups["name"], groups["space"], names && `{${names}}`]
          .filter((target) => target !== undefined)
          .map((target) => `const ${target} = ${from};`)
          .join(" ");
      }),
  };
}

/** Modules that take milliseconds to load, while most commands call nothing of them. */
const LATE: ReadonlySet<string | undefined> = new Set(["node:crypto", "node:fs/promises"]);

/** Each name as a function that loads the module when it is called; other values are taken at once. */
function lateFunctions(module: string, names: string): string {
  return names
    .split(",")
    .map((each) => each.trim().split(" as "))
    .map(([name = "", local = name]) =>
      /^[a-z]/.test(name) && !VALUES.has(name)
        ? `const ${local} = (...given) => ${module}.${name}(...given);`
        : `const { ${name}: ${local} } = ${module};`,
    )
    .join(" ");
}

/** Values of these modules that are not functions. */
const VALUES: ReadonlySet<string> = new Set(["constants", "subtle", "webcrypto"]);

/**
 * Commander imports `node:child_process` for commands that are separate programs. Reprise has none, so
 * the module is loaded only if it is ever used.
 */
export function lateChildProcess(): Plugin {
  const id = "\0late-child-process";
  return {
    name: "late-child-process",
    resolveId: (source, importer) =>
      source === "node:child_process" && importer?.includes("/node_modules/commander/") === true
        ? id
        : undefined,
    load: (source) =>
      source === id
        ? `const load = () => process.getBuiltinModule("node:child_process");
           export default { spawn: (...args) => load().spawn(...args) };`
        : undefined,
  };
}

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import type { ModuleSource } from "./chunks.ts";
import { type OutputChunk, rolldown, type RolldownOutput } from "rolldown";

/** Bytes with gzip that a first visit may load, script and style together. */
const MAX_FIRST_VISIT = 60_000;

/** Pages that a visit can begin with, by the source of each. */
const FIRST_PAGES = ["web/main.tsx", "web/session/Session.tsx"];

/**
 * Makes the web page: `index.html`, and in `assets/` the scripts and the style under names that hold a digest of their
 * content, each also compressed. The service fills in `{base}` of `index.html`.
 *
 * Throws if the bundler warns, or if a first visit would load more than `max` bytes.
 */
export async function buildPage(
  root: string,
  folder: string,
  { max = MAX_FIRST_VISIT }: { readonly max?: number } = {},
): Promise<RolldownOutput> {
  const output = await bundleScripts(root);
  const chunks = output.output.filter((file) => file.type === "chunk");
  const assets = new Map(chunks.map(({ fileName, code }) => [fileName, code]));
  const style = styleOf(join(root, "web/styles"));
  const styleName = `assets/page-${digestOf(style)}.css`;
  assets.set(styleName, style);
  checkFirstVisits(chunks, { assets, styleName, max });
  mkdirSync(join(folder, "assets"), { recursive: true });
  for (const [name, text] of assets) {
    writeFileSync(join(folder, name), text);
    const bytes = Buffer.from(text);
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }));
  }
  const entry = chunks.find(({ isEntry }) => isEntry);
  const template = readFileSync(join(root, "web/index.html"), "utf8");
  const tags = [
    `<link rel="stylesheet" href="{base}${styleName}" />`,
    ...reached(chunks, entry === undefined ? [] : [entry])
      .slice(1)
      .map((name) => `<link rel="modulepreload" href="{base}${name}" />`),
    `<script type="module" src="{base}${entry?.fileName}"></script>`,
  ];
  writeFileSync(join(folder, "index.html"), template.replace("{assets}", tags.join("\n    ")));
  return output;
}

async function bundleScripts(root: string): Promise<RolldownOutput> {
  const warnings: string[] = [];
  const bundled = await rolldown({
    cwd: root,
    input: { page: "web/main.tsx" },
    platform: "browser",
    // not a warning that the machine is slow
    checks: { bundlerTimings: false },
    tsconfig: join(root, "web/tsconfig.json"),
    plugins: [styleAsText],
    onLog: (level, { message }) => {
      if (level === "warn") {
        warnings.push(message);
      }
    },
  });
  const output = await bundled.generate({
    format: "esm",
    minify: true,
    entryFileNames: "assets/[name]-[hash].js",
    chunkFileNames: "assets/[name]-[hash].js",
    // one file for what every page needs: without it, each module that several pages share would be one
    codeSplitting: {
      groups: [{ name: neededAtOnce(join(root, "web/main.tsx")), debugName: "first" }],
    },
    comments: false,
  });
  await bundled.close();
  if (warnings.length > 0) {
    throw new Error(`the bundler warns: ${warnings.join("\n")}`);
  }
  return output;
}

/** Makes what names the file of the modules that the entry imports, and of those that they import; null for others. */
function neededAtOnce(entry: string): (id: string, source: ModuleSource) => string | null {
  let needed: Set<string> | null = null;
  return (id, source) => {
    if (needed === null) {
      needed = new Set([entry]);
      for (const each of needed) {
        for (const imported of source.getModuleInfo(each)?.importedIds ?? []) {
          needed.add(imported);
        }
      }
    }
    return needed.has(id) ? "first" : null;
  };
}

/** A style that a part of the page imports, which is loaded with it: a module with its text. */
const styleAsText = {
  name: "style-as-text",
  load: (id: string) =>
    id.endsWith(".css")
      ? {
          code: `export const style = ${JSON.stringify(shortStyle(readFileSync(id, "utf8")))};`,
          moduleType: "js" as const,
        }
      : null,
};

/** Styles of every page as one file: what others use first, then by name. */
function styleOf(folder: string): string {
  const names = readdirSync(folder).filter((name) => name.endsWith(".css"));
  const first = ["tokens.css", "base.css", "shell.css"];
  const ordered = [...first, ...names.filter((name) => !first.includes(name)).sort()];
  return shortStyle(ordered.map((name) => readFileSync(join(folder, name), "utf8")).join("\n"));
}

/** Leaves out comments and blanks around signs: no text in quotes may have braces, a semicolon or a comma before a blank. */
function shortStyle(text: string): string {
  return text
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s*([{};])\s*/g, "$1")
    .replaceAll(/,\s+/g, ",")
    .replaceAll(";}", "}")
    .trim();
}

function checkFirstVisits(
  chunks: readonly OutputChunk[],
  {
    assets,
    styleName,
    max,
  }: {
    readonly assets: ReadonlyMap<string, string>;
    readonly styleName: string;
    readonly max: number;
  },
): void {
  const sizeOf = (name: string): number => gzipSync(assets.get(name) ?? "", { level: 9 }).length;
  for (const page of FIRST_PAGES) {
    const begun = chunks.filter(
      ({ isEntry, facadeModuleId }) => isEntry || facadeModuleId?.endsWith(`/${page}`) === true,
    );
    const names = [...reached(chunks, begun), styleName];
    const size = names.reduce((sum, name) => sum + sizeOf(name), 0);
    if (size > max) {
      throw new Error(
        `A first visit to ${page} loads ${size} bytes with gzip, more than ${max}: ${names
          .map((name) => `${name} ${sizeOf(name)}`)
          .join(", ")}. Load something later with import().`,
      );
    }
  }
}

/** The files of chunks, with those that they import at once. */
function reached(chunks: readonly OutputChunk[], from: readonly OutputChunk[]): string[] {
  const names = new Set(from.map(({ fileName }) => fileName));
  for (const name of names) {
    for (const imported of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) {
      names.add(imported);
    }
  }
  return [...names];
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 8);
}

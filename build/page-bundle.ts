import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import type { ModuleSource } from "./chunks.ts";
import { type OutputChunk, rolldown, type RolldownOutput } from "rolldown";

/** Bytes with gzip that a first visit may load, script and style together. */
const MAX_FIRST_VISIT = 60_000;

const ENTRY = "web/main.tsx";

/** Documents, with the page that a visit of each begins with, and its name as a file of scripts. */
const DOCUMENTS = [
  { file: "index.html", page: "web/list/List.tsx", name: "list" },
  { file: "session.html", page: "web/session/Session.tsx", name: "session" },
] as const;

/**
 * Makes the web page: its documents, and in `assets/` the scripts and the style under names that hold a digest of their
 * content, each also compressed. The service fills in `{base}` of a document.
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
  const template = readFileSync(join(root, "web/index.html"), "utf8");
  for (const { file, page } of DOCUMENTS) {
    const tags = [
      `<link rel="stylesheet" href="{base}${styleName}" />`,
      ...scriptsOf(chunks, page).map((name, index) =>
        index === 0
          ? `<script type="module" src="{base}${name}"></script>`
          : `<link rel="modulepreload" href="{base}${name}" />`,
      ),
    ];
    writeFileSync(join(folder, file), template.replace("{assets}", tags.join("\n    ")));
  }
  return output;
}

async function bundleScripts(root: string): Promise<RolldownOutput> {
  const warnings: string[] = [];
  const bundled = await rolldown({
    cwd: root,
    input: { page: ENTRY },
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
    // one file for what every page needs, and one for each first page: else each module that several share would be one
    codeSplitting: { groups: [{ name: groupsOf(root), debugName: "first pages" }] },
    comments: false,
  });
  await bundled.close();
  if (warnings.length > 0) {
    throw new Error(`the bundler warns: ${warnings.join("\n")}`);
  }
  return output;
}

/** Makes what names the file of a module that a first visit needs; null for others. */
function groupsOf(root: string): (id: string, source: ModuleSource) => string | null {
  let names: Map<string, string> | null = null;
  return (id, source) => {
    if (names === null) {
      names = new Map();
      for (const { page, name } of DOCUMENTS) {
        for (const each of neededAtOnce(join(root, page), source)) {
          // what several first pages need, each visit needs
          names.set(each, names.has(each) ? "first" : name);
        }
      }
      for (const each of neededAtOnce(join(root, ENTRY), source)) {
        names.set(each, "first");
      }
    }
    return names.get(id) ?? null;
  };
}

/** A module, with those that it imports at once, and those that they import. */
function neededAtOnce(entry: string, source: ModuleSource): Set<string> {
  const needed = new Set([entry]);
  for (const each of needed) {
    for (const imported of source.getModuleInfo(each)?.importedIds ?? []) {
      needed.add(imported);
    }
  }
  return needed;
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
  for (const { page } of DOCUMENTS) {
    const names = [...scriptsOf(chunks, page), styleName];
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

/** The files of scripts that a visit of a page begins with; the first one has the entry in it, so its own file is not needed. */
function scriptsOf(chunks: readonly OutputChunk[], page: string): string[] {
  const of = (source: string): string[] =>
    chunks
      .filter(({ moduleIds }) => moduleIds.some((id) => id.endsWith(`/${source}`)))
      .map(({ fileName }) => fileName);
  const names = new Set([...of(ENTRY), ...of(page)]);
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

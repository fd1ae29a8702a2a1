import { dirname, normalize } from "node:path/posix";

import { COMPOSITION, FOLDERS, KNOTS, MAX_FILES, ORDER } from "./folders.ts";

/** Texts of files by their paths below the root, with `/`. */
export type Sources = ReadonlyMap<string, string>;

/** Imports of each file: paths of files below the root. */
type Imports = ReadonlyMap<string, readonly string[]>;

/** One sentence for each place in which files break the order of the folders. */
export function findProblems(sources: Sources): readonly string[] {
  const imports: Imports = new Map(
    [...sources].map(([file, text]) => [file, importsOf(file, text)] as const),
  );
  const folders = foldersOf([...sources.keys()]);
  return [
    ...outward(imports),
    ...crowded([...sources.keys()]),
    ...folders.flatMap((folder) => [...unordered(folder, imports), ...circles(folder, imports)]),
  ];
}

/** Relative imports of any kind: of values, of types, when the file runs, and files that are named by a URL. */
function importsOf(file: string, text: string): readonly string[] {
  const found = text.matchAll(/(?:\bfrom|\bimport\(?|\bnew URL\()\s*"(\.{1,2}\/[^"]+)"/g);
  return [...found].map(([, specifier = ""]) => normalize(`${dirname(file)}/${specifier}`));
}

/** Every folder that holds one of the files, at any depth. */
function foldersOf(files: readonly string[]): readonly string[] {
  const folders = new Set<string>();
  for (const file of files) {
    for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
      folders.add(folder);
    }
  }
  return [...folders].sort();
}

/** Imports between folders of `src` that `FOLDERS` does not name. */
function outward(imports: Imports): readonly string[] {
  return edges("src", imports).flatMap(({ from, to, file, target }) => {
    const allowed = COMPOSITION.includes(from) || FOLDERS[from]?.includes(to) === true;
    return allowed ? [] : [`${file} imports ${target}: ${from} may not import ${to}`];
  });
}

function crowded(files: readonly string[]): readonly string[] {
  return [...Map.groupBy(files, dirname)].flatMap(([folder, { length }]) =>
    length > MAX_FILES
      ? [`${folder} has ${length} files directly in it, of ${MAX_FILES} at most`]
      : [],
  );
}

/** Imports against the order of a folder's folders, and folders that its order does not name. */
function unordered(folder: string, imports: Imports): readonly string[] {
  const order = ORDER[folder];
  if (order === undefined) {
    return [];
  }
  const unnamed = childFolders(folder, imports).filter((child) => !order.includes(child));
  const against = edges(folder, imports).filter(
    ({ from, to }) =>
      order.includes(from) && order.includes(to) && order.indexOf(to) > order.indexOf(from),
  );
  return [
    ...unnamed.map((child) => `${folder}/${child} has no place in the order of ${folder}`),
    ...against.map(
      ({ file, target, from, to }) =>
        `${file} imports ${target}: ${from} comes before ${to} in ${folder}`,
    ),
  ];
}

/**
 * Folders of a folder that import each other, also by way of files beside them, which count one by one. A knot is
 * accepted if `KNOTS` names it.
 */
function circles(folder: string, imports: Imports): readonly string[] {
  if (KNOTS[folder] !== undefined) {
    return [];
  }
  const next = new Map<string, Set<string>>();
  for (const { from, to } of edges(folder, imports)) {
    next.set(from, (next.get(from) ?? new Set()).add(to));
  }
  const inCircle = childFolders(folder, imports).filter((child) => reaches(next, child, child));
  return inCircle.length === 0
    ? []
    : [`${folder}: ${inCircle.join(", ")} import each other, also by way of files beside them`];
}

function reaches(
  next: ReadonlyMap<string, ReadonlySet<string>>,
  start: string,
  end: string,
): boolean {
  const seen = new Set<string>();
  const waiting = [...(next.get(start) ?? [])];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at === end) {
      return true;
    }
    if (!seen.has(at)) {
      seen.add(at);
      waiting.push(...(next.get(at) ?? []));
    }
  }
  return false;
}

interface Edge {
  /** Names directly in the folder: of a folder, or of a file beside it. */
  readonly from: string;
  readonly to: string;
  readonly file: string;
  readonly target: string;
}

/** Imports between what is directly in a folder. */
function edges(folder: string, imports: Imports): readonly Edge[] {
  return [...imports].flatMap(([file, targets]) => {
    const from = childOf(folder, file);
    return from === null
      ? []
      : targets.flatMap((target) => {
          const to = childOf(folder, target);
          return to === null || to === from ? [] : [{ from, to, file, target }];
        });
  });
}

function childOf(folder: string, file: string): string | null {
  return file.startsWith(`${folder}/`)
    ? (file.slice(folder.length + 1).split("/")[0] ?? null)
    : null;
}

function childFolders(folder: string, imports: Imports): readonly string[] {
  const inside = [...imports.keys()].filter((file) => file.startsWith(`${folder}/`));
  const names = inside.map((file) => file.slice(folder.length + 1).split("/"));
  return [...new Set(names.flatMap(([name = "", ...rest]) => (rest.length === 0 ? [] : [name])))];
}

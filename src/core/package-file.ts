/**
 * The place of a file that comes with Reprise, named from the package's root. This file lies two
 * folders below the root, and so does everything that is built from it (dist/program/,
 * dist/agent/, dist/library/): the same path leads there from all of them.
 */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}

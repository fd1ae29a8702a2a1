import { relative, sep } from "node:path";

/** A folder as a person writes it: `~/shop` if it is in the home folder. */
export function inHome(folder: string, home: string | undefined): string {
  if (home === undefined || home === "") {
    return folder;
  }
  const path = relative(home, folder);
  const isInside = path !== ".." && !path.startsWith(`..${sep}`);
  return path === "" ? "~" : isInside ? `~${sep}${path}` : folder;
}

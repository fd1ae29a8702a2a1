import { dirname } from "node:path";

import type { NamedPath } from "./named-by-git.ts";

/** Something in a folder that other programs execute or obey. */
export interface ControlPlace {
  readonly kind: "file" | "folder" | "link";
  /**
   * Identity of the entry on the disk, and of a link also of its target: another one under the same name has another.
   */
  readonly identity: string;
  /** Target of a link, as the link says it. */
  readonly target: string | null;
  readonly reason: string;
  /** Path that has to go if it may not be there. */
  readonly source: string;
}

/** Content of a folder before a command. */
export interface Before {
  readonly places: ReadonlyMap<string, ControlPlace>;
  readonly named: readonly NamedPath[];
}

/** Content to compare with. */
export interface KnownPlaces extends Before {
  /** True for what was not there before, at this path or another one. */
  isNew(path: string, place: ControlPlace): boolean;
  /** Where the same thing was before; null if it was not there. */
  earlierPath(place: ControlPlace): string | null;
}

/**
 * In the top folder names stay what they are, because what is mounted there cannot be renamed; below it, a
 * command can rename the folder above one and make another. What is renamed so stays what it is, too.
 */
export function knownPlaces(folder: string, { places, named }: Before): KnownPlaces {
  const paths = new Map(
    [...places].map(([path, place]) => [`${place.kind} ${place.identity}`, path]),
  );
  const earlierPath = (place: ControlPlace): string | null =>
    place.kind === "link" && leadsNowhere(place)
      ? null
      : (paths.get(`${place.kind} ${place.identity}`) ?? null);
  return {
    places,
    named,
    earlierPath,
    isNew: (path, place) => {
      const known = places.get(path);
      const isFixed = dirname(path) === folder || path === folder;
      const isHere =
        known?.kind === place.kind &&
        (place.kind === "link"
          ? known.target === place.target
          : isFixed || known.identity === place.identity);
      return !isHere && earlierPath(place) === null;
    },
  };
}

const NOWHERE = "nowhere";

function leadsNowhere({ identity }: ControlPlace): boolean {
  return identity.startsWith(NOWHERE);
}

/** `end` is what a link leads to, if anything. */
export function identityOf(
  stat: { readonly dev: bigint; readonly ino: bigint },
  link: { readonly target: string; readonly end: typeof stat | null } | null,
): string {
  if (link === null) {
    return `${stat.dev}:${stat.ino}`;
  }
  const { target, end } = link;
  return `${end === null ? NOWHERE : `${end.dev}:${end.ino}`} ${target}`;
}

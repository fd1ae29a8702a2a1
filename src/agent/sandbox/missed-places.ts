import { isInside } from "../../workspace/files/real-path.ts";

export interface HiddenHome {
  /** The home as the command's environment names it, and every path of it; absolute. */
  readonly homes: readonly string[];
  /** What a command sees of it. */
  readonly seen: readonly string[];
}

const MAX_NAMED = 3;

/**
 * The places of the home that an output names although its command did not see them, as `~/…`. Whether they exist is not
 * looked up: a command must not find that out.
 */
export function missedPlaces(output: string, { homes, seen }: HiddenHome): readonly string[] {
  if (homes.length === 0) {
    return [];
  }
  const tops = ["~", "$HOME", "${HOME}", ...homes].map(escaped);
  const path = new RegExp(`(?<![\\w./-])(?:${tops.join("|")})((?:/[\\w.@+-]+)+)`, "g");
  const named = new Set<string>();
  for (const [, below = ""] of output.matchAll(path)) {
    const rest = below.replace(/\.+$/, "");
    const isSeen = homes.some((home) => seen.some((each) => isInside(each, home + rest)));
    if (!isSeen && rest !== "/" && !rest.split("/").includes("..")) {
      named.add(`~${shortened(rest)}`);
    }
    if (named.size === MAX_NAMED) {
      break;
    }
  }
  return [...named];
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** The folder of one program, as far as the usual places show: `~/.tool/logs`, `~/.local/share/tool`. */
function shortened(below: string): string {
  const depth = below.startsWith("/.local/") ? 3 : 2;
  return below
    .split("/")
    .slice(0, depth + 1)
    .join("/");
}

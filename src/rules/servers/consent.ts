import { createHash } from "node:crypto";

import { visibleBlanks } from "../../core/text/visible-blanks.ts";
import { type McpEntries, type McpEntry, variablesOf } from "./server.ts";

/** Returns what a person has seen of the servers of one file: another hash whenever anything of them changes. */
export function serversDigest(file: string, entries: McpEntries): string {
  const exact = Object.entries(entries).map(([name, entry]) => {
    const { place, client, tools, timeoutMs, isEnabled } = entry;
    return [name, place, client, tools, timeoutMs, isEnabled];
  });
  return createHash("sha256")
    .update(JSON.stringify(["servers", file, exact]))
    .digest("hex");
}

/**
 * Describes a server for a person, such as `files: npx -y server (gets ROOT; reads HOME)`. Values of variables and headers
 * are not shown. It may have any characters.
 */
export function serverLine(name: string, entry: McpEntry): string {
  const { place } = entry;
  if (place === null) {
    return `${name}: off`;
  }
  const [what, gets] =
    place.kind === "program"
      ? [[place.command, ...place.args].map(shownWord).join(" "), Object.keys(place.env)]
      : [place.url, Object.keys(place.headers)];
  const reads = variablesOf(entry);
  const about = [
    ...(gets.length === 0 ? [] : [`gets ${gets.join(", ")}`]),
    ...(reads.length === 0 ? [] : [`reads your ${reads.join(", ")}`]),
  ];
  return visibleBlanks(`${name}: ${what}${about.length === 0 ? "" : ` (${about.join("; ")})`}`);
}

/** Quotes a word whose ends would not be seen. */
function shownWord(word: string): string {
  return /^[\w@%+=:,./${}~^*?-]+$/.test(word) ? word : JSON.stringify(word);
}

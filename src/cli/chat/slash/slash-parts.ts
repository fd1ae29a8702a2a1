/** The name and the argument of a line that calls a command; null for a message. */
export function slashParts(
  line: string,
): { readonly name: string; readonly argument: string } | null {
  const match = /^\/([a-z-]+)(?:\s+(.*))?$/s.exec(line.trim());
  return match === null ? null : { name: match[1] ?? "", argument: (match[2] ?? "").trim() };
}

import type { SandboxPolicy } from "./policy.ts";

/**
 * The profile of macOS' `sandbox-exec` for one command. Reads nothing but its input; of rules that match, the
 * last one counts. `temporary` is the real path of a folder of this command alone: macOS has no private
 * `/tmp`. It limits neither processes nor memory.
 */
export function seatbeltProfile(policy: SandboxPolicy, temporary: string): string {
  const { folder, readOnly, hidden, network } = policy;
  const writable = [folder, temporary];
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-exec process-fork)",
    "(allow signal process-info* (target same-sandbox))",
    "(allow sysctl-read)",
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    "(allow file-read*)",
    ...["/dev/null", "/dev/zero", "/dev/dtracehelper"].map(
      (path) => `(allow file-write-data (literal ${quoted(path)}))`,
    ),
    ...writable.map((path) => `(allow file-write* (subpath ${quoted(path)}))`),
    ...readOnly.map((path) => `(deny file-write* (subpath ${quoted(path)}))`),
    // renaming a folder above what is read-only would move it away
    ...above(readOnly, folder).map((path) => `(deny file-write-unlink (literal ${quoted(path)}))`),
    ...hidden.map(({ path }) => `(deny file-read* file-write* (subpath ${quoted(path)}))`),
    ...(network
      ? ["(allow network*)", "(allow system-socket)", "(deny network* (remote unix-socket))", NAMES]
      : []),
  ].join("\n");
}

/** Names of hosts are looked up through this socket. */
const NAMES = '(allow network-outbound (literal "/private/var/run/mDNSResponder"))';

/** The folders between the top and what is below it, and the top. */
function above(paths: readonly string[], top: string): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const names = path.slice(top.length).split("/").slice(1, -1);
    for (let count = 0; count <= names.length; count += 1) {
      found.add([top, ...names.slice(0, count)].join("/"));
    }
  }
  return [...found];
}

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, "\\$&")}"`;
}

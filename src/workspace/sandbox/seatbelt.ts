import { isInside } from "../files/real-path.ts";
import { foldersAbove } from "./folders-above.ts";
import type { SandboxPolicy } from "./policy.ts";

/**
 * The profile of macOS' `sandbox-exec` for one command. Reads nothing but its input; of rules that match, the
 * last one counts. `temporary` is the real path of a folder of this command alone: macOS has no private
 * `/tmp`. It limits neither processes nor memory.
 */
export function seatbeltProfile(policy: SandboxPolicy, temporary: string): string {
  const { folder, readOnly, hidden, home, programs, network } = policy;
  const visible = [...home.visible, ...programs, folder, temporary];
  const inHomes = home.homes.flatMap((top) =>
    foldersAbove(
      visible.filter((path) => isInside(top, path)).map((path) => ({ path })),
      top,
    ),
  );
  const writable = [folder, temporary];
  const guarded = [...readOnly.map((path) => ({ path })), ...hidden];
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-exec process-fork)",
    "(allow signal process-info* (target same-sandbox))",
    "(allow sysctl-read)",
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    "(allow file-read*)",
    ...home.homes.map((path) => `(deny file-read* (subpath ${quoted(path)}))`),
    // a path to what is visible leads through these
    ...[...home.homes, ...inHomes, ...home.links.map(({ path }) => path)].map(
      (path) => `(allow file-read-metadata (literal ${quoted(path)}))`,
    ),
    ...visible.map((path) => `(allow file-read* (subpath ${quoted(path)}))`),
    ...["/dev/null", "/dev/zero", "/dev/dtracehelper"].map(
      (path) => `(allow file-write-data (literal ${quoted(path)}))`,
    ),
    ...writable.map((path) => `(allow file-write* (subpath ${quoted(path)}))`),
    ...readOnly.map((path) => `(deny file-write* (subpath ${quoted(path)}))`),
    // renaming a folder above what is read-only or hidden would move it away
    ...[folder, ...foldersAbove(guarded, folder)].map(
      (path) => `(deny file-write-unlink (literal ${quoted(path)}))`,
    ),
    ...hidden.map(({ path }) => `(deny file-read* file-write* (subpath ${quoted(path)}))`),
    ...(network
      ? ["(allow network*)", "(allow system-socket)", "(deny network* (remote unix-socket))", NAMES]
      : []),
  ].join("\n");
}

/** Names of hosts are looked up through this socket. */
const NAMES = '(allow network-outbound (literal "/private/var/run/mDNSResponder"))';

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, "\\$&")}"`;
}

import { isInside } from "../files/real-path.ts";
import { foldersAbove } from "./folders-above.ts";
import type { HiddenPlace, HomeView, Launch, SandboxPolicy } from "./policy.ts";

/** Facts about the machine on which the arguments depend. */
export interface BubblewrapHost {
  /** The absolute path of `prlimit`. */
  readonly prlimit: string;
  /** Which of the folders in `PRIVATE_FOLDERS` exist, as real paths. */
  readonly privateFolders: readonly string[];
  /** The real path of `/etc/resolv.conf`; null if there is none. */
  readonly resolver: string | null;
}

/** They hold sockets and files of other programs, so a command gets empty ones. */
export const PRIVATE_FOLDERS = ["/tmp", "/var/tmp", "/run"] as const;

/** The open file from which bubblewrap reads the filter of system calls. */
export const FILTER_DESCRIPTOR = 9;

/**
 * The session's folder, opened: what is mounted is this folder, whatever its path leads to meanwhile. Bubblewrap
 * closes it when all is mounted, as it would a descriptor that another program lets it wait for.
 */
export const FOLDER_DESCRIPTOR = 8;
const HELD = `/proc/self/fd/${FOLDER_DESCRIPTOR}`;

const RUN_BYTES = 16 * 1024 * 1024;

/**
 * The arguments of bubblewrap for one command. Reads nothing but its input.
 *
 * Later mounts cover earlier ones: the system, then what is hidden with what is visible in it, the folder, what is read-only in it, and
 * what is hidden in it. What is mounted cannot be renamed, so the folders above what is hidden in it are mounted
 * too: under another name the next command would see it, and something else could take its place.
 */
export function bubblewrapArguments(
  policy: SandboxPolicy,
  { file, args, cwd }: Omit<Launch, "env">,
  host: BubblewrapHost,
): string[] {
  const { folder, limits, network, home } = policy;
  const roots = [...host.privateFolders, "/dev", "/proc"];
  const inFolder = policy.hidden.filter(({ path }) => isInside(folder, path) && path !== folder);
  const hiddenOutside = policy.hidden.filter((place) => !inFolder.includes(place));
  const outside = placesOutside({ roots, home, hidden: hiddenOutside });
  const hide = ({ path, kind }: HiddenPlace): string[] =>
    kind === "folder"
      ? ["--perms", "0755", "--size", "4096", "--tmpfs", path]
      : ["--ro-bind", policy.empty, path];
  const held = (path: string): string => `${HELD}${path.slice(folder.length)}`;
  const resolver = network ? host.resolver : null;
  return [
    ...NAMESPACES.filter((option) => !network || option !== "--unshare-net"),
    // the administrator could change settings of the kernel there: bubblewrap 0.8 leaves them writable
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--remount-ro",
    "/proc",
    ...tmpfs("/dev/shm", limits.shared),
    ...host.privateFolders.flatMap((path) =>
      tmpfs(path, path.endsWith("tmp") ? limits.temporary : RUN_BYTES),
    ),
    ...outside.flatMap((place) => (place.kind === "visible" ? place.show : hide(place))),
    ...policy.programs.flatMap((path) => ["--ro-bind", path, path]),
    "--bind",
    HELD,
    folder,
    ...[...policy.pinned, ...foldersAbove(inFolder, folder)].flatMap((path) => [
      "--bind",
      held(path),
      path,
    ]),
    ...policy.readOnly.flatMap((path) => [
      "--ro-bind",
      isInside(folder, path) ? held(path) : path,
      path,
    ]),
    ...inFolder.flatMap(hide),
    ...(resolver === null || !roots.some((root) => isInside(root, resolver))
      ? []
      : ["--ro-bind", resolver, resolver]),
    ...[...outside, ...inFolder].flatMap(({ path, kind }) =>
      kind === "folder" ? ["--remount-ro", path] : [],
    ),
    "--block-fd",
    String(FOLDER_DESCRIPTOR),
    "--seccomp",
    String(FILTER_DESCRIPTOR),
    "--chdir",
    cwd,
    "--",
    host.prlimit,
    `--nproc=${both(limits.processes)}`,
    `--fsize=${both(limits.file)}`,
    "--core=0:0",
    "--",
    file,
    ...args,
  ];
}

const NAMESPACES = [
  "--unshare-user",
  "--disable-userns",
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--unshare-net",
  "--die-with-parent",
  "--new-session",
  "--cap-drop",
  "ALL",
];

interface Outside {
  readonly roots: readonly string[];
  readonly home: HomeView;
  readonly hidden: readonly HiddenPlace[];
}

/**
 * Homes, what is visible in them, and what is hidden besides, the outer ones first: the inner one counts. Nothing that is
 * covered already.
 */
function placesOutside({ roots, home, hidden }: Outside) {
  const depthIn = (folders: readonly string[], path: string): number =>
    Math.max(0, ...folders.filter((each) => isInside(each, path)).map((each) => each.length));
  const isCovered = (path: string, covers: readonly string[]): boolean =>
    depthIn(covers, path) > depthIn(home.visible, path);
  const folders = home.homes
    .filter((path) => !isCovered(path, roots))
    .map((path) => ({ path, kind: "folder" as const }));
  const shown = [
    ...home.visible.map((path) => ({ path, show: ["--ro-bind", path, path] })),
    ...home.links.map(({ path, target }) => ({ path, show: ["--symlink", target, path] })),
  ].map((each) => ({ ...each, kind: "visible" as const }));
  const further = hidden.filter(({ path }) => !isCovered(path, [...roots, ...home.homes]));
  return [...folders, ...shown, ...further].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function tmpfs(path: string, bytes: number): string[] {
  return ["--perms", "1777", "--size", String(bytes), "--tmpfs", path];
}

function both(limit: number): string {
  return `${limit}:${limit}`;
}

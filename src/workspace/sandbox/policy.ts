/** Program before it is started. */
export interface Launch {
  /** An absolute path, or a name that is looked up in `env.PATH`. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Maxima for one command with all that it starts; all but `processes` and `files` in bytes. */
export interface SandboxLimits {
  readonly processes: number;
  readonly memory: number;
  /** Bytes of one file. */
  readonly file: number;
  /** New files and folders on the disk of the folder. */
  readonly files: number;
  /** Bytes that have to stay free on the disk of the folder. */
  readonly free: number;
  /** Each of `/tmp` and `/var/tmp`, which are in memory. */
  readonly temporary: number;
  /** `/dev/shm`. */
  readonly shared: number;
}

const MIB = 1024 * 1024;

export const SANDBOX_LIMITS: SandboxLimits = {
  processes: 500,
  memory: 2048 * MIB,
  file: 1024 * MIB,
  files: 1_000_000,
  free: 1024 * MIB,
  temporary: 512 * MIB,
  shared: 64 * MIB,
};

/** A place that exists and that a command does not see. */
export interface HiddenPlace {
  /** The real path. */
  readonly path: string;
  readonly kind: "file" | "folder";
}

/** A link in a home folder that leads to something visible. Both are absolute, the target is a real path. */
export interface HomeLink {
  readonly path: string;
  readonly target: string;
}

/** Part of home folders that a command sees. Real paths that exist. */
export interface HomeView {
  /** They are empty but for the rest, the programs and the session's folder. */
  readonly homes: readonly string[];
  /** Below a home or a private folder, and read-only. */
  readonly visible: readonly string[];
  readonly links: readonly HomeLink[];
  /** The paths, not only real ones, that `~` means. */
  readonly names: readonly string[];
}

/** Reach of a command. Every path is a real one. */
export interface SandboxPolicy {
  /** The one place that it may change. */
  readonly folder: string;
  /** Paths in the folder that it may not change; each exists. */
  readonly readOnly: readonly string[];
  /** Folders in it that it may not rename, the outer ones first; each exists. */
  readonly pinned: readonly string[];
  readonly hidden: readonly HiddenPlace[];
  readonly home: HomeView;
  /** Folders of programs that would be covered by the private folders or a home; each exists and holds nothing hidden. */
  readonly programs: readonly string[];
  /** The path of an empty file, which hidden files look like. */
  readonly empty: string;
  /** True for the network of the machine, with the services that listen on it only. */
  readonly network: boolean;
  readonly limits: SandboxLimits;
}

import { latestVersion, migrations } from "./history.ts";

/** Steps that would bring a database to this program's version. */
export interface UpgradePlan {
  /** Its schema version now, 0 if it has no tables. */
  readonly from: number;
  readonly to: number;
  /** The steps that are missing, in order: `0006-thread-heads` and the like. */
  readonly steps: readonly string[];
  /** The copy that is made before; null if none is. */
  readonly backup: PlannedBackup | null;
}

/** Sizes in bytes. */
export interface PlannedBackup {
  readonly path: string;
  readonly needed: number;
  readonly free: number;
}

export function planUpgrade(from: number, backup: PlannedBackup | null): UpgradePlan {
  const steps = migrations
    .filter(({ version }) => version > from)
    .map(({ version, name }) => `${String(version).padStart(4, "0")}-${name}`);
  return { from, to: latestVersion(), steps, backup };
}

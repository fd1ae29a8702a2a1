import { LEASE_MS } from "../../../src/core/limits.ts";
import { holdLease } from "../../../src/exchange/lease-holder.ts";
import { type LeaseOwner, thisProcess } from "../../../src/store/records/leases/this-process.ts";
import type { Store } from "../../../src/store/store.ts";
import { type Repair, repairSession } from "../../../src/store/verify/repair.ts";

/** As `reprise sessions repair` does it. */
export function repair(
  store: Store,
  session_id: string,
  owner: LeaseOwner = thisProcess("test"),
): Promise<Repair> {
  const { signal } = new AbortController();
  const input = { store, session_id, owner, life_ms: LEASE_MS, signal };
  const hold = () => holdLease({ ...input, when_busy: "refuse" });
  return repairSession({ store, session_id, hold });
}

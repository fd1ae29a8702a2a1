import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

import { systemCode } from "../../../core/errors.ts";

/** Who holds a session's lease. `since` is ISO 8601 in UTC, by the holder's clock. */
export interface LeaseOwner {
  readonly host: string;
  /** Distinguishes machines (and process namespaces) with the same host name. */
  readonly machine: string;
  readonly pid: number;
  readonly command: string;
  readonly since: string;
}

/** Who this process is, for the lease of a session. */
export function thisProcess(command: string): LeaseOwner {
  return {
    host: hostname(),
    machine: machineName(),
    pid: process.pid,
    command,
    since: new Date().toISOString(),
  };
}

/**
 * True when the owner was a process of this machine and no process has its number any more. A
 * number that was given to another process since counts as alive: the lease's own end decides.
 */
export function isGone(owner: LeaseOwner): boolean {
  return owner.host === hostname() && owner.machine === machineName() && isProcessGone(owner.pid);
}

/** True if no process of this machine has the number, or only one that has ended. */
export function isProcessGone(pid: number): boolean {
  if (pid === process.pid) {
    return false;
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    return systemCode(error) === "ESRCH";
  }
  return ENDED.includes(stateOf(pid));
}

/** States of a process that has ended and whose parent has not asked for it: in some containers none ever does. */
const ENDED = ["Z", "X"];

/** Linux: a letter. Empty elsewhere, and if the system hides processes of others. */
function stateOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // the name before it may hold anything, also a bracket
    return stat.charAt(stat.lastIndexOf(")") + 2);
  } catch {
    return "";
  }
}

/**
 * Linux: the boot and the process namespace, because containers may share a host name and count
 * their processes from 1. Elsewhere the host name has to do.
 */
function machineName(): string {
  try {
    return (machine ??= `${bootId()} ${readlinkSync("/proc/self/ns/pid")}`);
  } catch {
    return "";
  }
}

/** Stays the same as long as the process runs. */
let machine: string | null = null;

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

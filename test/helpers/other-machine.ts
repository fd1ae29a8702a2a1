import { spawnSync } from "node:child_process";

/** A user other than root may do it in a user namespace of its own, where the system allows that. */
const UNSHARE = [
  "unshare",
  ...(process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"]),
  "--pid",
  "--uts",
  "--mount-proc",
  "--fork",
  "--kill-child",
];

/** The name of the machine that commands of `onOtherMachine` run on. */
export const OTHER_HOST = "elsewhere";

/**
 * A shell command as if another machine carried it out: with another host name, and with process
 * numbers of its own, so that nobody there can tell whether a process here still runs.
 */
export function onOtherMachine(command: string): string {
  return `${UNSHARE.join(" ")} sh -c 'hostname ${OTHER_HOST} && exec ${command}'`;
}

/** False where the system gives out no namespaces. */
export function hasOtherMachine(): boolean {
  return spawnSync("/bin/sh", ["-c", onOtherMachine("true")]).status === 0;
}

import { spawnSync } from "node:child_process";

/** A user other than root may do it in a separate user namespace, if the system allows that. */
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
 * A shell command as if another machine ran it: with another host name and separate
 * process numbers, so that nobody there knows whether a process here still runs.
 */
export function onOtherMachine(command: string): string {
  return `${UNSHARE.join(" ")} sh -c 'hostname ${OTHER_HOST} && exec ${command}'`;
}

/** False if the system gives out no namespaces. */
export function hasOtherMachine(): boolean {
  return spawnSync("/bin/sh", ["-c", onOtherMachine("true")]).status === 0;
}

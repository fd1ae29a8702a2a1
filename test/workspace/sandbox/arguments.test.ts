import { describe, expect, it } from "vitest";

import {
  bubblewrapArguments,
  type BubblewrapHost,
} from "../../../src/workspace/sandbox/bubblewrap.ts";
import { SANDBOX_LIMITS, type SandboxPolicy } from "../../../src/workspace/sandbox/policy.ts";
import { seatbeltProfile } from "../../../src/workspace/sandbox/seatbelt.ts";
import { systemCallFilter } from "../../../src/workspace/sandbox/seccomp.ts";

const HOST: BubblewrapHost = {
  prlimit: "/usr/bin/prlimit",
  privateFolders: ["/tmp", "/var/tmp", "/run"],
  resolver: "/run/systemd/resolve/stub-resolv.conf",
};
const POLICY: SandboxPolicy = {
  folder: "/home/ada/billing",
  readOnly: ["/home/ada/billing/.git", "/home/ada/billing/sub/AGENTS.md"],
  pinned: [],
  hidden: [
    { path: "/home/ada/.ssh", kind: "folder" },
    { path: "/home/ada/.config/gh", kind: "folder" },
    { path: "/home/ada/.config/key", kind: "file" },
    { path: "/opt/key", kind: "file" },
    { path: "/home/ada/billing/reprise.db", kind: "file" },
    { path: "/tmp/reprise/state", kind: "folder" },
  ],
  home: {
    homes: ["/home/ada", "/tmp/ci"],
    visible: ["/home/ada/.nvm", "/home/ada/.config", "/tmp/ci/.nvm"],
    links: [{ path: "/home/ada/.pyenv", target: "/data/pyenv" }],
    names: [],
  },
  programs: ["/tmp/node"],
  empty: "/state/empty",
  network: false,
  limits: SANDBOX_LIMITS,
};
const COMMAND = { file: "npm", args: ["test", "--", "a b"], cwd: "/home/ada/billing/sub" };

function line(policy: Partial<SandboxPolicy> = {}, host: Partial<BubblewrapHost> = {}): string {
  return bubblewrapArguments({ ...POLICY, ...policy }, COMMAND, { ...HOST, ...host }).join(" ");
}

describe("the arguments of bubblewrap", () => {
  it.each([
    [
      "every namespace",
      "--unshare-user --disable-userns --unshare-pid --unshare-ipc --unshare-uts",
    ],
    ["no network", "--unshare-net"],
    ["no capabilities and no terminal", "--die-with-parent --new-session --cap-drop ALL"],
    ["the system read-only", "--ro-bind / / --dev /dev --proc /proc --remount-ro /proc"],
    ["a small /dev/shm", "--perms 1777 --size 67108864 --tmpfs /dev/shm"],
    ["a private /tmp", "--perms 1777 --size 536870912 --tmpfs /tmp"],
    ["a private /run", "--perms 1777 --size 16777216 --tmpfs /run"],
    ["an empty home", "--perms 0755 --size 4096 --tmpfs /home/ada"],
    ["what is visible of the home", "--ro-bind /home/ada/.nvm /home/ada/.nvm"],
    ["what is visible of a home in a private folder", "--ro-bind /tmp/ci/.nvm /tmp/ci/.nvm"],
    ["a link to what is visible", "--symlink /data/pyenv /home/ada/.pyenv"],
    ["a hidden folder", "--perms 0755 --size 4096 --tmpfs /home/ada/.config/gh"],
    ["a hidden file", "--ro-bind /state/empty /home/ada/.config/key"],
    ["a hidden file of the system", "--ro-bind /state/empty /opt/key"],
    ["programs of the path in a private folder", "--ro-bind /tmp/node /tmp/node"],
    ["the folder", "--bind /proc/self/fd/8 /home/ada/billing"],
    ["the folder no longer open", "--block-fd 8"],
    ["what is read-only in it", "--ro-bind /proc/self/fd/8/.git /home/ada/billing/.git"],
    ["a file of Reprise in it", "--ro-bind /state/empty /home/ada/billing/reprise.db"],
    [
      "the limits",
      "-- /usr/bin/prlimit --nproc=500:500 --fsize=1073741824:1073741824 --core=0:0 --",
    ],
    ["the command", "-- npm test -- a b"],
    ["its working folder", "--chdir /home/ada/billing/sub --"],
  ])("[SANDBOX-18] give a command %s", (_, part) => {
    expect(line()).toContain(part);
  });

  it.each([
    ["the home before what is visible of it", "--tmpfs /home/ada", "--ro-bind /home/ada/.config"],
    [
      "what is visible before what is hidden in it",
      "--ro-bind /home/ada/.config",
      "--tmpfs /home/ada/.config/gh",
    ],
    ["the home before the folder in it", "--tmpfs /home/ada", "--bind /proc/self/fd/8"],
    [
      "the folder before the home cannot be changed",
      "--bind /proc/self/fd/8",
      "--remount-ro /home/ada",
    ],
    [
      "the folder before what is read-only in it",
      "--bind /proc/self/fd/8",
      "--ro-bind /proc/self/fd/8/.git",
    ],
    [
      "what is read-only before what is hidden",
      "billing/.git /home",
      "--ro-bind /state/empty /home/ada/billing",
    ],
    [
      "private folders before a folder in one",
      "--tmpfs /tmp",
      "--bind /proc/self/fd/8 /tmp/project",
    ],
  ])("[SANDBOX-18] mount %s", (_, first, second) => {
    const text = line(second.includes("/tmp/") ? { folder: "/tmp/project" } : {});
    expect(text).toContain(second);
    expect(text.indexOf(first)).toBeLessThan(text.indexOf(second));
  });

  it("[SANDBOX-18] name nothing hidden that a private folder covers already", () => {
    expect(line()).not.toContain("/tmp/reprise/state");
    expect(line()).not.toContain("--tmpfs /tmp/ci");
  });

  it("[SANDBOX-18] name nothing hidden that an empty home covers already", () => {
    expect(line()).not.toContain("/home/ada/.ssh");
  });

  it("[SANDBOX-10] mount folders that may not be renamed in their places, before what is read-only", () => {
    const pinned = ["/home/ada/billing/sub"];
    expect(line({ pinned })).toContain(
      "--bind /proc/self/fd/8/sub /home/ada/billing/sub --ro-bind /proc/self/fd/8/.git",
    );
  });

  it("[SANDBOX-18] keep the network with the names of hosts if they are asked to", () => {
    expect(line({ network: true })).not.toContain("--unshare-net");
    expect(line({ network: true })).toContain(`--ro-bind ${HOST.resolver} ${HOST.resolver}`);
    expect(line()).not.toContain("resolv");
    expect(line({ network: true }, { resolver: "/etc/resolv.conf" })).not.toContain("resolv");
  });
});

describe("the profile of macOS", () => {
  const profile = seatbeltProfile(
    { ...POLICY, folder: '/Users/a "b"/p', readOnly: ['/Users/a "b"/p/sub/.git'] },
    "/private/t",
  );
  const lines = profile.split("\n");

  it.each([
    '(allow file-write* (subpath "/Users/a \\"b\\"/p"))',
    '(allow file-write* (subpath "/private/t"))',
    '(deny file-write* (subpath "/Users/a \\"b\\"/p/sub/.git"))',
    '(deny file-write-unlink (literal "/Users/a \\"b\\"/p/sub"))',
    '(deny file-write-unlink (literal "/Users/a \\"b\\"/p"))',
    '(deny file-read* file-write* (subpath "/home/ada/.ssh"))',
    '(deny file-read* (subpath "/home/ada"))',
    '(allow file-read-metadata (literal "/home/ada"))',
    '(allow file-read* (subpath "/home/ada/.nvm"))',
    '(allow file-read* (subpath "/Users/a \\"b\\"/p"))',
  ])("[SANDBOX-18] has the rule %s", (rule) => {
    expect(lines).toContain(rule);
  });

  it("[SANDBOX-18] denies first, and what is hidden last", () => {
    expect(lines[1]).toBe("(deny default)");
    const at = (rule: string) => lines.findIndex((each) => each.startsWith(rule));
    expect(at('(allow file-read* (subpath "/home/ada/')).toBeGreaterThan(
      at('(deny file-read* (subpath "/home/ada")'),
    );
    expect(lines.at(-1)).toMatch(/^\(deny file-read/);
    expect(profile).not.toContain("network");
  });

  it("[SANDBOX-18] allows the network without Unix sockets if it is asked to", () => {
    const open = seatbeltProfile({ ...POLICY, network: true }, "/private/t");
    expect(open).toContain("(allow network*)");
    expect(open).toContain("(deny network* (remote unix-socket))");
  });
});

describe.each([
  [
    "x64",
    0xc000003e,
    { socket: 41, socketpair: 53, keyctl: 250, read: 0 },
    {
      creat: [85, 1],
      chmod: [90, 1],
      fchmod: [91, 1],
      mknod: [133, 1],
      mknodat: [259, 2],
      fchmodat: [268, 2],
    },
    { open: [2, 1], openat: [257, 2] },
  ],
  [
    "arm64",
    0xc00000b7,
    { socket: 198, socketpair: 199, keyctl: 219, read: 63 },
    { fchmod: [52, 1], mknodat: [33, 2], fchmodat: [53, 2] },
    { openat: [56, 2] },
  ],
])("the filter of system calls on %s", (processor, audit, numbers, modes, opens) => {
  const filter = systemCallFilter(processor) ?? Buffer.alloc(0);
  const result = (nr: number, args: readonly number[] = [], from = audit) =>
    ACTIONS.get(interpret(filter, [nr, from, ...args])) ?? "unknown";

  it.each([
    ["read", "allowed", [0]],
    ["socket", "refused", [1, 1]],
    ["socket", "allowed", [2, 1]],
    ["socket", "allowed", [10, 2]],
    ["socket", "allowed", [16, 3, 0]],
    ["socket", "refused", [16, 3, 4]],
    ["socket", "refused", [16, 3, 15]],
    ["socket", "refused", [40, 1]],
    ["socketpair", "allowed", [1, 0x80801]],
    ["socketpair", "allowed", [1, 5]],
    ["socketpair", "refused", [1, 2]],
    ["socketpair", "refused", [1, 0x80803]],
    ["keyctl", "missing", []],
  ] as const)("[SANDBOX-5] %s is %s with %j", (name, expected, args) => {
    expect(result(numbers[name], args)).toBe(expected);
  });

  it("[SANDBOX-50] refuses the setuid and setgid bits in each call that sets a mode", () => {
    for (const [name, [nr = 0, at = 0]] of Object.entries({ ...modes, fchmodat2: [452, 2] })) {
      const withMode = (mode: number) => result(nr, [0, 0, 0, 0].with(at, mode));
      expect([0o755, 0o1777, 0o100644].map(withMode), name).toEqual(Array(3).fill("allowed"));
      expect([0o4755, 0o2755, 0o6000, 0o104755].map(withMode), name).toEqual(
        Array(4).fill("refused"),
      );
    }
    for (const [name, [nr = 0, at = 0]] of Object.entries(opens)) {
      const opened = (flags: number, mode: number) =>
        result(nr, [0, 0, 0, 0].with(at, flags).with(at + 1, mode));
      // O_RDONLY, O_DIRECTORY; O_WRONLY | O_CREAT, O_RDWR | O_TMPFILE
      expect([0, 0o200000].map((flags) => opened(flags, 0o7777))).toEqual(["allowed", "allowed"]);
      expect([0o101, 0o20200002].map((flags) => opened(flags, 0o644))).toEqual([
        "allowed",
        "allowed",
      ]);
      expect(
        [0o101, 0o20200002].map((flags) => opened(flags, 0o4755)),
        name,
      ).toEqual(["refused", "refused"]);
    }
    expect(result(437)).toBe("missing");
  });

  it("[SANDBOX-5] io_uring is missing, and a program for another processor is killed", () => {
    expect(result(425)).toBe("missing");
    expect(result(numbers.read, [], 0x40000003)).toBe("killed");
  });
});

it("[SANDBOX-5] the calls of x32 are refused, and there is no filter for other processors", () => {
  const filter = systemCallFilter("x64") ?? Buffer.alloc(0);
  expect(ACTIONS.get(interpret(filter, [0x40000000 + 41, 0xc000003e]))).toBe("refused");
  expect(systemCallFilter("riscv64")).toBeNull();
});

const ACTIONS = new Map([
  [0x7fff0000, "allowed"],
  [0x80000000, "killed"],
  [0x00050001, "refused"],
  [0x00050026, "missing"],
]);

/** Runs a program of the kernel's filters: `words` are the number, the processor and the arguments. */
function interpret(program: Buffer, [nr = 0, audit = 0, ...args]: readonly number[]): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(nr, 0);
  data.writeUInt32LE(audit, 4);
  args.forEach((value, index) => data.writeUInt32LE(value, 16 + 8 * index));
  let value = 0;
  for (let at = 0; at < program.length; at += 8) {
    const operand = program.readUInt32LE(at + 4);
    const jump = (isTrue: boolean) => program.readUInt8(at + (isTrue ? 2 : 3)) * 8;
    switch (program.readUInt16LE(at)) {
      case 0x20:
        value = data.readUInt32LE(operand);
        break;
      case 0x54:
        value &= operand;
        break;
      case 0x15:
        at += jump(value === operand);
        break;
      case 0x35:
        at += jump(value >= operand);
        break;
      case 0x45:
        at += jump((value & operand) !== 0);
        break;
      case 0x06:
        return operand;
      default:
        throw new Error("unknown instruction");
    }
  }
  throw new Error("the program has no end");
}

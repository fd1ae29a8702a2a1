/** The position of the argument that is the mode of a new file, or the new one of a file that exists. */
type ModeArgument = 1 | 2;

interface Processor {
  readonly audit: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly keys: readonly number[];
  /** Calls that set a mode, each with the position of it. */
  readonly modes: readonly (readonly [number: number, at: ModeArgument])[];
  /** Calls that set a mode if their flags, which come before it, say so. */
  readonly opens: readonly (readonly [number: number, flagsAt: ModeArgument])[];
  /** The first of the calls of x32, which have other numbers. */
  readonly from: number | null;
}

/** The numbers of system calls on a processor, by the name that Node.js has for it. */
const PROCESSORS: Readonly<Record<"x64" | "arm64", Processor>> = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    socketpair: 53,
    keys: [248, 249, 250],
    // creat, chmod, fchmod, mknod, mknodat, fchmodat
    modes: [
      [85, 1],
      [90, 1],
      [91, 1],
      [133, 1],
      [259, 2],
      [268, 2],
    ],
    // open, openat
    opens: [
      [2, 1],
      [257, 2],
    ],
    from: 0x40000000,
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    socketpair: 199,
    keys: [217, 218, 219],
    // fchmod, mknodat, fchmodat
    modes: [
      [52, 1],
      [33, 2],
      [53, 2],
    ],
    // openat
    opens: [[56, 2]],
    from: null,
  },
};

/** They have one number on all processors. */
const IO_URING_SETUP = 425;
const OPENAT2 = 437;
const FCHMODAT2 = 452;

/** AF_INET, AF_INET6. */
const FAMILIES = [2, 10];
const AF_NETLINK = 16;
/** Lists interfaces and addresses, which servers and test runners do at their start. */
const NETLINK_ROUTE = 0;
/** SOCK_STREAM, SOCK_SEQPACKET; a pair of another type can send to any socket of the machine. */
const PAIR_TYPES = [1, 5];

/** S_ISUID, S_ISGID. */
const SETUID_OR_SETGID = 0o6000;
/** O_CREAT, and the bit of O_TMPFILE that no other flag has. */
const CREATES = 0o20000100;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

/**
 * A filter of system calls for bubblewrap: a compiled BPF program. A path, which namespaces do not cover,
 * leads to a Unix socket, and a virtual machine's sockets lead to its host, so only sockets of the network
 * can be made. No file gets the setuid or setgid bit: another user could run it with the rights of this one.
 * Missing: io_uring, which makes sockets without these calls, openat2, whose mode a filter cannot see (programs
 * then use openat), and the keys that the kernel keeps. Null on processors other than x64 and arm64.
 */
export function systemCallFilter(processor: string): Buffer | null {
  if (processor !== "x64" && processor !== "arm64") {
    return null;
  }
  const { audit, socket, socketpair, keys, modes, opens, from } = PROCESSORS[processor];
  const missing = [IO_URING_SETUP, OPENAT2, ...keys];
  return Buffer.concat([
    load(4),
    step(IF_EQUAL, audit, 1, 0),
    end(KILL_PROCESS),
    load(0),
    ...(from === null ? [] : [step(IF_AT_LEAST, from, 0, 1), end(EPERM)]),
    ...missing.flatMap((number) => [step(IF_EQUAL, number, 0, 1), end(ENOSYS)]),
    ...ofCall(socket, [
      argument(0),
      step(IF_EQUAL, AF_NETLINK, 0, 4),
      argument(2),
      ...onlyOne([NETLINK_ROUTE]),
      ...onlyOne(FAMILIES),
    ]),
    ...ofCall(socketpair, [argument(1), step(AND, 0xf), ...onlyOne(PAIR_TYPES)]),
    ...modes.concat([[FCHMODAT2, 2]]).flatMap(([number, at]) => ofCall(number, plainMode(at))),
    ...opens.flatMap(([number, flagsAt]) =>
      ofCall(number, [
        argument(flagsAt),
        step(IF_ANY_BIT, CREATES, 1, 0),
        end(ALLOW),
        ...plainMode(flagsAt + 1),
      ]),
    ),
    end(ALLOW),
  ]);
}

/** Decides about one call; the last one of `steps` returns. */
function ofCall(number: number, steps: readonly Buffer[]): readonly Buffer[] {
  return [step(IF_EQUAL, number, 0, steps.length), ...steps];
}

/** Allows only these values of what is loaded. */
function onlyOne(values: readonly number[]): readonly Buffer[] {
  return [
    ...values.map((value, index) => step(IF_EQUAL, value, values.length - index, 0)),
    end(EPERM),
    end(ALLOW),
  ];
}

/** Refuses the two bits in the mode at this position. */
function plainMode(at: number): readonly Buffer[] {
  return [argument(at), step(IF_ANY_BIT, SETUID_OR_SETGID, 0, 1), end(EPERM), end(ALLOW)];
}

const LOAD_WORD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const AND = 0x54;
const RETURN = 0x06;

function load(offset: number): Buffer {
  return step(LOAD_WORD, offset);
}

/** The lower half of an argument. */
function argument(at: number): Buffer {
  return load(16 + 8 * at);
}

function end(action: number): Buffer {
  return step(RETURN, action);
}

/** Encodes an instruction; `then` and `otherwise` are how many of the next ones are skipped. */
function step(code: number, operand: number, then = 0, otherwise = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(then, 2);
  bytes.writeUInt8(otherwise, 3);
  bytes.writeUInt32LE(operand, 4);
  return bytes;
}

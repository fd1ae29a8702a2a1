/** The numbers of system calls on a processor, by the name that Node.js has for it. */
const PROCESSORS = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    socketpair: 53,
    keys: [248, 249, 250],
    // the calls of x32, which have other numbers
    from: 0x40000000,
  },
  arm64: { audit: 0xc00000b7, socket: 198, socketpair: 199, keys: [217, 218, 219], from: null },
} as const;

const IO_URING_SETUP = 425;
/** AF_INET, AF_INET6, AF_NETLINK. */
const FAMILIES = [2, 10, 16];
/** SOCK_STREAM, SOCK_SEQPACKET; a pair of another type can send to any socket of the machine. */
const PAIR_TYPES = [1, 5];

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

/**
 * A filter of system calls for bubblewrap: a compiled BPF program. A path, which namespaces do not cover,
 * leads to a Unix socket, and a virtual machine's sockets lead to its host, so only sockets of the network
 * can be made. Refused as well: io_uring, which makes sockets without these calls, the keys that the kernel
 * keeps, and programs for another processor. Null on processors other than x64 and arm64.
 */
export function systemCallFilter(processor: string): Buffer | null {
  if (processor !== "x64" && processor !== "arm64") {
    return null;
  }
  const { audit, socket, socketpair, keys, from } = PROCESSORS[processor];
  return Buffer.concat([
    load(4),
    step(IF_EQUAL, audit, 1, 0),
    end(KILL_PROCESS),
    load(0),
    ...(from === null ? [] : [step(IF_AT_LEAST, from, 0, 1), end(EPERM)]),
    ...[IO_URING_SETUP, ...keys].flatMap((number) => [step(IF_EQUAL, number, 0, 1), end(ENOSYS)]),
    ...onlyWith(socket, [load(16)], FAMILIES),
    ...onlyWith(socketpair, [load(24), step(AND, 0xf)], PAIR_TYPES),
    end(ALLOW),
  ]);
}

/** Of one call, allows those whose argument, loaded by `loading`, is one of the values. */
function onlyWith(
  number: number,
  loading: readonly Buffer[],
  values: readonly number[],
): readonly Buffer[] {
  const length = loading.length + values.length + 2;
  return [
    step(IF_EQUAL, number, 0, length),
    ...loading,
    ...values.map((value, index) => step(IF_EQUAL, value, values.length - index, 0)),
    end(EPERM),
    end(ALLOW),
  ];
}

const LOAD_WORD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const AND = 0x54;
const RETURN = 0x06;

function load(offset: number): Buffer {
  return step(LOAD_WORD, offset);
}

function end(action: number): Buffer {
  return step(RETURN, action);
}

/** One instruction; `then` and `otherwise` are how many of the next ones are skipped. */
function step(code: number, operand: number, then = 0, otherwise = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(then, 2);
  bytes.writeUInt8(otherwise, 3);
  bytes.writeUInt32LE(operand, 4);
  return bytes;
}

/** The beginning and the end of an output, and how much there was. */
export interface KeptOutput {
  push(chunk: Buffer): void;
  readonly bytes: number;
  /** `left` is the number of bytes between them; null if nothing is left out, and `head` is all. */
  text(): { readonly head: string; readonly left: number | null; readonly tail: string };
}

/** Keeps so many bytes of the beginning and of the end; what is not UTF-8 is shown as U+FFFD. */
export function createKeptOutput(max: {
  readonly head: number;
  readonly tail: number;
}): KeptOutput {
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let bytes = 0;
  return {
    push: (chunk) => {
      bytes += chunk.length;
      const first = chunk.subarray(0, max.head - headBytes);
      if (first.length > 0) {
        head.push(first);
        headBytes += first.length;
      }
      const rest = chunk.subarray(first.length);
      if (rest.length > 0) {
        tail.push(rest.subarray(-max.tail));
        tailBytes += Math.min(rest.length, max.tail);
      }
      if (tailBytes > 2 * max.tail) {
        tail = [Buffer.from(Buffer.concat(tail).subarray(-max.tail))];
        tailBytes = max.tail;
      }
    },
    get bytes() {
      return bytes;
    },
    text: () => {
      const start = Buffer.concat(head);
      const end = Buffer.concat(tail).subarray(-max.tail);
      const left = bytes - start.length - end.length;
      return left === 0
        ? { head: decode(Buffer.concat([start, end])), left: null, tail: "" }
        : { head: decode(start, { stream: true }), left, tail: decode(wholeEnd(end)) };
    },
  };
}

/** With `stream` an incomplete character at the end is left out. */
function decode(bytes: Buffer, options: { readonly stream?: boolean } = {}): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, options);
}

/** Without the rest of a character at its beginning. */
function wholeEnd(bytes: Buffer): Buffer {
  const start = [0, 1, 2, 3].find((at) => ((bytes[at] ?? 0) & 0xc0) !== 0x80) ?? 0;
  return bytes.subarray(start);
}

/** The beginning of a text, up to so many bytes of UTF-8. */
export function cutToBytes(text: string, max: number): string {
  // with `stream` an incomplete character at the end is left out
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.from(text).subarray(0, max), {
    stream: true,
  });
}

/** Error of an answer that is broken off. */
export class TooLarge extends Error {
  constructor() {
    super("its answer is too large");
  }
}

/**
 * A fetch that breaks off an answer, or an event of a stream, after so many bytes. `onBroken` is called for a stream, whose
 * reader might wait for the rest.
 */
export function boundedFetch(maxBytes: number, onBroken = (): void => {}): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body } = response;
    if (body === null) {
      return response;
    }
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const bounded = body.pipeThrough(
      isStream ? boundedEvents(maxBytes, onBroken) : boundedBytes(maxBytes),
    );
    const { status, statusText, headers } = response;
    return new Response(bounded, { status, statusText, headers });
  };
}

function boundedBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        controller.error(new TooLarge());
      } else {
        controller.enqueue(chunk);
      }
    },
  });
}

/** Bytes of one stream: a server that never stops must not be read for ever. */
const MAX_STREAM_BYTES = 64 * 1024 * 1024;
const LF = 10;
const CR = 13;

/** A stream may be open for long: each event is bounded, up to the empty line that ends it, and all of them together. */
function boundedEvents(
  maxBytes: number,
  onBroken: () => void,
): TransformStream<Uint8Array, Uint8Array> {
  let all = 0;
  let ofEvent = 0;
  let largest = 0;
  let ofLine = 0;
  let last = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      all += chunk.length;
      for (const byte of chunk) {
        ofEvent += 1;
        largest = Math.max(largest, ofEvent);
        if (byte === CR || (byte === LF && last !== CR)) {
          ofEvent = ofLine === 0 ? 0 : ofEvent;
          ofLine = 0;
        } else if (byte !== LF) {
          ofLine += 1;
        }
        last = byte;
      }
      if (largest > maxBytes || all > MAX_STREAM_BYTES) {
        controller.error(new TooLarge());
        onBroken();
      } else {
        controller.enqueue(chunk);
      }
    },
  });
}

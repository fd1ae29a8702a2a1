/** Error of an answer that is broken off. */
export class TooLarge extends Error {
  constructor() {
    super("its answer is too large");
  }
}

/** A fetch that breaks off an answer, or an event of a stream, after so many bytes. */
export function boundedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body } = response;
    if (body === null) {
      return response;
    }
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const bounded = body.pipeThrough(isStream ? boundedEvents(maxBytes) : boundedBytes(maxBytes));
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

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** A stream may be open for long: what is bounded is each event, which ends with an empty line. */
function boundedEvents(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let isLineEmpty = true;
  return new TransformStream({
    transform: (chunk, controller) => {
      for (const byte of chunk) {
        bytes += 1;
        if (byte === LINE_FEED) {
          bytes = isLineEmpty ? 0 : bytes;
          isLineEmpty = true;
        } else if (byte !== CARRIAGE_RETURN) {
          isLineEmpty = false;
        }
        if (bytes > maxBytes) {
          controller.error(new TooLarge());
          return;
        }
      }
      controller.enqueue(chunk);
    },
  });
}

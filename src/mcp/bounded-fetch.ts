/** A fetch that breaks off an answer, or a message of a stream, after so many bytes. */
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
        controller.error(new Error("its answer is too large"));
      } else {
        controller.enqueue(chunk);
      }
    },
  });
}

/** A stream may be open for long: what is bounded is each line. */
function boundedEvents(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      const end = chunk.lastIndexOf(10);
      bytes = end === -1 ? bytes + chunk.length : chunk.length - end - 1;
      if (bytes > maxBytes) {
        controller.error(new Error("its answer is too large"));
      } else {
        controller.enqueue(chunk);
      }
    },
  });
}

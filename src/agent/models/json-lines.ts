/**
 * Passes an answer of JSON lines on, and ends it with an error at a line that is not JSON, such as the half of one
 * after a cut: Ollama's client prints such a line and skips it.
 */
export function withWholeLines(response: Response): Response {
  if (!response.ok || response.body === null) {
    return response;
  }
  let rest = "";
  const lines = new TransformStream<string, string>({
    transform: (piece, passed) => {
      const found = (rest + piece).split("\n");
      rest = found.pop() ?? "";
      for (const line of found) {
        passChecked(line, passed);
      }
    },
    flush: (passed) => passChecked(rest, passed),
  });
  const body = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(lines)
    .pipeThrough(new TextEncoderStream());
  return new Response(body, response);
}

function passChecked(line: string, passed: TransformStreamDefaultController<string>): void {
  if (line.trim() !== "") {
    JSON.parse(line);
    passed.enqueue(`${line}\n`);
  }
}

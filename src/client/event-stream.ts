/** One server-sent event. `id` is the last id of the stream so far, as the standard has it. */
export interface StreamEvent {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/**
 * Makes a reader of an event stream (https://html.spec.whatwg.org/multipage/server-sent-events.html):
 * text goes in as it arrives, cut anywhere, and whole events come out. Lines end with CR, LF or
 * CRLF; comments, unknown fields and an unfinished event at the end are dropped.
 */
export function createEventStreamReader(): (text: string) => StreamEvent[] {
  const splitLines = createLineSplitter();
  let id = "";
  let event = "";
  let data: string[] = [];
  let first = true;

  const take = (line: string): StreamEvent | null => {
    if (line === "") {
      const finished =
        data.length === 0 ? null : { event: event || "message", id, data: data.join("\n") };
      event = "";
      data = [];
      return finished;
    }
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") {
      data.push(value);
    } else if (name === "event") {
      event = value;
    } else if (name === "id" && !value.includes("\0")) {
      id = value;
    }
    return null;
  };

  return (text) => {
    // the decoder may have left the byte order mark in
    const lines = splitLines(first ? text.replace(/^\uFEFF/, "") : text);
    first &&= text === "";
    return lines.map(take).filter((finished) => finished !== null);
  };
}

/** Gives the whole lines of a text that arrives in pieces; CRLF may be cut in the middle. */
function createLineSplitter(): (text: string) => string[] {
  // pieces of the line that is not whole yet: joined once, however many there are
  let pieces: string[] = [];
  let endedWithCr = false;
  return (text) => {
    const fresh = endedWithCr && text.startsWith("\n") ? text.slice(1) : text;
    endedWithCr = text === "" ? endedWithCr : text.endsWith("\r");
    const lines = fresh.split(/\r\n|\n|\r/);
    const rest = lines.pop() ?? "";
    if (lines.length > 0) {
      lines[0] = [...pieces, lines[0]].join("");
      pieces = [];
    }
    if (rest !== "") {
      pieces.push(rest);
    }
    return lines;
  };
}

/**
 * What keeps a text from being well-formed XML, as far as our pictures use it (elements with
 * quoted attributes, text, the five entities); null if it is.
 */
export function xmlFault(xml: string): string | null {
  const open: string[] = [];
  const token =
    /<(\/?)([A-Za-z][\w-]*)((?:\s+[\w:-]+="[^"<&]*")*)\s*(\/?)>|([^<&]+)|&(?:amp|lt|gt|quot);|&/g;
  let at = 0;
  for (const match of xml.matchAll(token)) {
    const [whole, close, name = "", , alone, text] = match;
    if (match.index !== at || whole === "&") {
      return `at ${at}: ${xml.slice(at, at + 60)}`;
    }
    at += whole.length;
    if (
      text !== undefined &&
      /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text)
    ) {
      return `a character that XML does not allow in ${JSON.stringify(text)}`;
    }
    if (name === "") {
      continue;
    }
    if (close === "/" && open.pop() !== name) {
      return `</${name}> closes another element`;
    }
    if (close === "" && alone === "") {
      open.push(name);
    }
  }
  return at === xml.length && open.length === 0 ? null : `ends at ${at} inside ${open.join()}`;
}

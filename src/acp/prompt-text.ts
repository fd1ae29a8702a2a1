import type { ContentBlock } from "@agentclientprotocol/sdk/unstable";

import { RepriseError } from "../core/errors.ts";
import { MAX_CONTENT_BYTES } from "../core/limits.ts";
import { oneLine, visible } from "../core/text/terminal-text.ts";

/**
 * Makes one message of the content of a prompt. A link is its address; an embedded text comes after the message, with its
 * address before it.
 *
 * Error codes: `invalid_request` for images, sounds and bytes, and for an empty prompt; `body_too_large`.
 */
export function promptText(blocks: readonly ContentBlock[]): string {
  let text = "";
  const embedded: string[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case "text":
        text += block.text;
        break;
      case "resource_link":
        text += shownAddress(block.uri);
        break;
      case "resource": {
        const { resource } = block;
        if (!("text" in resource)) {
          throw notText("A file of bytes");
        }
        text += shownAddress(resource.uri);
        embedded.push(`${shownAddress(resource.uri)}\n${fenced(resource.text)}`);
        break;
      }
      case "image":
        throw notText("An image");
      case "audio":
        throw notText("A sound");
    }
  }
  const message = [text, ...embedded].join("\n\n");
  if (message.trim() === "") {
    throw new RepriseError("invalid_request", "The prompt is empty. Send a text.");
  }
  if (Buffer.byteLength(message) > MAX_CONTENT_BYTES) {
    throw new RepriseError(
      "body_too_large",
      "The prompt is larger than 1 MiB with what is embedded in it. Link files in place of embedding them.",
    );
  }
  return message;
}

function notText(what: string): RepriseError {
  return new RepriseError(
    "invalid_request",
    `${what} cannot be sent: Reprise takes text, links and embedded text. Name the file in the text instead.`,
  );
}

/**
 * A file of this machine by its path, which tools can read; everything else by its address. One with characters that a terminal
 * obeys or hides stays encoded: a name must not become lines of the message.
 */
function shownAddress(uri: string): string {
  const url = URL.parse(uri);
  const address = isPlain(uri) ? uri : (url?.href ?? oneLine(uri));
  if (url?.protocol !== "file:" || !["", "localhost"].includes(url.hostname)) {
    return address;
  }
  try {
    const path = decodeURIComponent(url.pathname);
    return isPlain(path) ? path : url.pathname;
  } catch {
    return address;
  }
}

function isPlain(text: string): boolean {
  return visible(text) === text && !/[\n\r\t]/.test(text);
}

/** A fence that is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([marks]) => marks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

import DOMPurify, { type Config } from "dompurify";
import { Marked, type Token, type Tokens } from "marked";
import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { CodeBlock } from "./code/CodeBlock.tsx";
import { SYNTAX, tokensOf } from "./tokens.ts";

/**
 * Text with Markdown, as sanitised elements. The only component that makes elements from text. Raw HTML is shown as
 * text, an image is a link to it. Each block is made once: while a text grows, only its last block is made again.
 */
export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div class="markdown" dir="auto">
      {blocks.map((block, index) =>
        block.kind === "code" ? (
          <CodeBlock key={index} text={block.text} language={block.language} />
        ) : (
          <Block key={index} html={block.html} />
        ),
      )}
    </div>
  );
}

type MarkdownBlock =
  | { readonly kind: "html"; readonly html: string }
  | { readonly kind: "code"; readonly text: string; readonly language: string };

/** Elements are put into the page as a fragment: no HTML text is ever set. */
function Block({ html }: { readonly html: string }): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const block = DOMPurify.sanitize(html, SANITISED);
    makeAccessible(block);
    element.current?.replaceChildren(block);
  }, [html]);
  return <div ref={element} />;
}

/** Names the boxes of a task list for screen readers, and lets keys scroll tables. */
function makeAccessible(block: DocumentFragment): void {
  for (const box of block.querySelectorAll("input")) {
    box.ariaLabel = box.checked ? "Done" : "To do";
  }
  for (const table of block.querySelectorAll("table")) {
    table.tabIndex = 0;
  }
}

/** What Markdown needs. Neither forms nor frames, styles nor ids: nothing that loads, runs or names a part of the page. */
const SANITISED = {
  ALLOWED_TAGS: words(
    "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr input li ol p pre strong table tbody td th thead tr ul",
  ),
  ALLOWED_ATTR: words("align checked disabled href rel start target title type"),
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  // they hold no address, and would be removed as wrong ones
  ADD_URI_SAFE_ATTR: words("align checked disabled rel start target type"),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
} as const satisfies Config;

function words(text: string): string[] {
  return text.split(" ");
}

const LINK = /^(?:https?:\/\/|mailto:)/i;

const marked = new Marked({
  ...SYNTAX,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    link({ href, title, tokens }) {
      return linkTo(href, this.parser.parseInline(tokens), title);
    },
    image: ({ href, title, text }) => linkTo(href, escapeHtml(text === "" ? href : text), title),
  },
});

/** What the library cannot read is shown as it is: no text may take the page away. */
function blocksOf(text: string): MarkdownBlock[] {
  try {
    return parsedBlocks(text);
  } catch {
    return [{ kind: "html", html: `<p>${escapeHtml(text)}</p>` }];
  }
}

function parsedBlocks(text: string): MarkdownBlock[] {
  return tokensOf(text)
    .filter(({ type }) => type !== "space" && type !== "def")
    .map((token) =>
      isCode(token)
        ? { kind: "code", text: token.text, language: token.lang?.split(/\s/)[0] ?? "" }
        : { kind: "html", html: marked.parser([token]) },
    );
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === "code";
}

/** Addresses of other kinds are shown as text: they could run a script or open another program. */
function linkTo(href: string, label: string, title?: string | null): string {
  if (!LINK.test(href)) {
    return label;
  }
  const hint = title === undefined || title === null ? "" : ` title="${escapeHtml(title)}"`;
  return `<a href="${escapeHtml(href)}"${hint} target="_blank" rel="noopener noreferrer">${label}</a>`;
}

function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? "");
}

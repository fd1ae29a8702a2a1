import type { JSX } from "preact";

/** Lines of a program, unchanged. Its language is shown if there is one. */
export function CodeBlock(props: {
  readonly text: string;
  readonly language: string;
}): JSX.Element {
  return (
    <figure class="code-block">
      {props.language === "" ? null : <figcaption>{props.language}</figcaption>}
      {/* focusable, because it scrolls sideways */}
      <pre tabIndex={0} dir="ltr">
        <code>{props.text}</code>
      </pre>
    </figure>
  );
}

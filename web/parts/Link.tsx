import type { AnchorHTMLAttributes, ComponentChildren, JSX, TargetedMouseEvent } from "preact";

import { go, hrefOf } from "../route.ts";

interface LinkProps extends Pick<
  AnchorHTMLAttributes,
  "aria-current" | "class" | "onFocus" | "onKeyDown" | "tabIndex" | "title"
> {
  /** A path of the page, such as `/plans`. */
  readonly to: string;
  readonly children: ComponentChildren;
}

/** A link to another page of Reprise. New tabs and downloads are left to the browser. */
export function Link({ to, children, ...rest }: LinkProps): JSX.Element {
  const follow = (event: TargetedMouseEvent<HTMLAnchorElement>): void => {
    const isPlain = !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    if (event.button === 0 && isPlain && !event.defaultPrevented) {
      event.preventDefault();
      go(to);
    }
  };
  return (
    <a {...rest} href={hrefOf(to)} onClick={follow}>
      {children}
    </a>
  );
}
